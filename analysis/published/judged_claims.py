"""What the paper on detecting and repairing says of its judges' labels."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray

from ragmend.analysis.inputs.labels import LabelCube
from ragmend.analysis.printing.table import print_p_value, round_half_up
from ragmend.analysis.published.claim import Claim, Finding, chain, untestable
from ragmend.analysis.statistics.agreement import cohen_kappa
from ragmend.analysis.study import Study
from ragmend.records import ARMS, CONDITIONS, TASKS

REPAIR_PAPER = "arXiv 2608.29307"
_STRICTEST = "gemma"
_JUDGES = ("gemma", "llama", "qwen")
"""The paper's judges: a number that is theirs can be held against no other's labels."""


def _ordering_in_every_task(study: Study) -> Finding:
    need = _lacking(study, ARMS)
    if need is not None:
        return untestable(need)
    tasks = study.cube.tasks_R
    if tasks is None:
        return untestable("the task of each record")
    tasks_R = np.array(tasks)
    found = {
        task: _counts(study.cube, study.primary_judge, ARMS, is_in_R=tasks_R == task)
        for task in _in_order(set(tasks))
    }
    return Finding(
        all(_is_rising(counts) for counts in found.values()),
        f"{study.primary_judge}: "
        + "; ".join(
            f"{task}: {chain(counts, str)} of {int((tasks_R == task).sum())}"
            for task, counts in found.items()
        ),
    )


def _ordering_in_every_judge(study: Study) -> Finding:
    need = _lacking(study, ARMS)
    if need is not None:
        return untestable(need)
    found = {judge: _counts(study.cube, judge, ARMS) for judge in study.cube.judges}
    return Finding(
        all(_is_rising(counts) for counts in found.values()),
        "; ".join(f"{judge}: {chain(counts, str)}" for judge, counts in found.items())
        + f" of {len(study.cube.record_ids)}",
    )


def _every_arm_lowers_every_rate(study: Study) -> Finding:
    need = _lacking(study, CONDITIONS)
    if need is not None:
        return untestable(need)
    found = {judge: _counts(study.cube, judge, CONDITIONS) for judge in study.cube.judges}
    is_lower = [counts[arm] < counts["original"] for counts in found.values() for arm in ARMS]
    tests = [row for row in study.contrasts if row.contrast in {f"original-{a}" for a in ARMS}]
    weakest = max(tests, key=lambda row: row.p_exact, default=None)
    evidence = f"original against {', '.join(ARMS)}: " + "; ".join(
        f"{judge} {counts['original']} against {', '.join(str(counts[arm]) for arm in ARMS)}"
        for judge, counts in found.items()
    )
    if weakest is not None:
        p = print_p_value(weakest.p_exact)
        evidence += f"; the largest p, exact McNemar: {p} ({weakest.judge}, {weakest.contrast})"
    return Finding(all(is_lower), evidence)


def _factor_of_nine(study: Study) -> Finding:
    need = _lacking(study, CONDITIONS)
    if need is not None:
        return untestable(need)
    primary = study.primary_judge
    if _STRICTEST not in study.cube.judges or primary == _STRICTEST:
        return untestable(f"labels of judge {_STRICTEST} beside another primary judge's")
    ours, theirs = (_reductions(study.cube, judge) for judge in (primary, _STRICTEST))
    if 0 in theirs:
        return untestable(f"a reduction by {_STRICTEST} in every arm, for the ratio")
    ratios = [Fraction(own, other) for own, other in zip(ours, theirs, strict=True)]
    each = zip(ARMS, ours, theirs, ratios, strict=True)
    return Finding(
        all(round_half_up(ratio, 0) == "9" for ratio in ratios),
        f"answers fewer, {primary} / {_STRICTEST}: "
        + "; ".join(f"{arm} {a} / {b} = {round_half_up(r, 1)}" for arm, a, b, r in each),
    )


def _extractive_to_generative(study: Study) -> Finding:
    need = _lacking(study, ("extractive", "generative"))
    if need is not None or study.primary_judge not in _JUDGES:
        return untestable(need or "labels of the paper's primary judge")
    counts = _counts(study.cube, study.primary_judge, ("extractive", "generative"))
    n = len(study.cube.record_ids)
    more = counts["generative"] - counts["extractive"]
    rates = [round_half_up(Fraction(100 * count, n), 2) for count in counts.values()]
    points = round_half_up(Fraction(100 * more, n), 2)
    between = round_half_up(Fraction(rates[1]) - Fraction(rates[0]), 2)
    return Finding(
        points == "3.27",
        f"{study.primary_judge}: {more} of {n} answers, {points} points; between the rounded "
        f"rates, {rates[1]} − {rates[0]}, {between}",
    )


def _range_of_kappa(study: Study) -> Finding:
    need = _lacking(study, CONDITIONS)
    if need is not None or set(study.cube.judges) != set(_JUDGES):
        return untestable(need or f"labels of the paper's judges, {', '.join(_JUDGES)}")
    cube = study.cube
    kappas = {
        f"{a} and {b}, {condition}": cohen_kappa(
            cube.labels_R(a, condition), cube.labels_R(b, condition)
        ).value
        for a, b in combinations(cube.judges, 2)
        for condition in CONDITIONS
    }
    defined = {name: kappa for name, kappa in kappas.items() if kappa is not None}
    if len(defined) < len(kappas):
        return untestable("judges that give both labels in every condition, for κ")
    ends = [pick(defined, key=lambda name: defined[name]) for pick in (min, max)]
    printed = [round_half_up(defined[end], 3) for end in ends]
    return Finding(
        printed == ["0.072", "0.481"],
        f"{len(kappas)} pairs and conditions: from {printed[0]} ({ends[0]}) to {printed[1]} "
        f"({ends[1]})",
    )


JUDGED_CLAIMS = (
    Claim(
        REPAIR_PAPER,
        "section 7.4, Table 6",
        "the primary judge's rate rises from removal to extractive to generative in every task",
        _ordering_in_every_task,
    ),
    Claim(
        REPAIR_PAPER,
        "section 7.3, Table 5",
        "every judge's rate rises from removal to extractive to generative",
        _ordering_in_every_judge,
    ),
    Claim(
        REPAIR_PAPER,
        "section 7.3, Table 5",
        "all judges agree that every arm lowers the rate",
        _every_arm_lowers_every_rate,
    ),
    Claim(
        REPAIR_PAPER,
        "section 7.3",
        "generative repair costs 3.27 points against extractive, by the primary judge",
        _extractive_to_generative,
    ),
    Claim(
        REPAIR_PAPER,
        "section 8",
        "the primary judge's reductions are approximately nine times Gemma's",
        _factor_of_nine,
    ),
    Claim(
        REPAIR_PAPER,
        "section 8",
        "κ of two judges lies between .072 and .481",
        _range_of_kappa,
    ),
)


def _lacking(study: Study, conditions: Sequence[str]) -> str | None:
    """Return what the labels lack for a claim about these conditions."""
    if not study.frames.has("labels"):
        return "labels"
    missing = [name for name in conditions if name not in study.cube.conditions]
    return f"labels in condition {', '.join(missing)}" if missing else None


def _counts(
    cube: LabelCube,
    judge: str,
    conditions: Sequence[str],
    *,
    is_in_R: NDArray[np.bool_] | slice = slice(None),
) -> dict[str, int]:
    """Return how many answers one judge calls hallucinated, by condition."""
    return {name: int(cube.labels_R(judge, name)[is_in_R].sum()) for name in conditions}


def _reductions(cube: LabelCube, judge: str) -> list[int]:
    counts = _counts(cube, judge, CONDITIONS)
    return [counts["original"] - counts[arm] for arm in ARMS]


def _is_rising(counts: dict[str, int]) -> bool:
    return all(before < after for before, after in pairwise(counts.values()))


def _in_order(tasks: set[str]) -> list[str]:
    known = [task for task in TASKS if task in tasks]
    return [*known, *sorted(tasks - set(known))]
