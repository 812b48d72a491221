"""What the paper on detecting and repairing says of its detectors and of its arms' texts."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from statistics import mean, median

import numpy as np

from ragmend.analysis.inputs.runs import DetectorRun, by_model
from ragmend.analysis.printing.table import print_p_value, round_half_up
from ragmend.analysis.published.claim import Claim, Finding, chain, untestable
from ragmend.analysis.published.judged_claims import REPAIR_PAPER
from ragmend.analysis.statistics.seeds import welch_test
from ragmend.analysis.study import Study

_PRINTED_MEDIANS = {"7b": "76.00", "13b": "78.60"}
_LEAST = "Data2txt"


def _usable_medians(study: Study) -> Finding:
    runs = _runs_by_model(study)
    usable = {name: _f1s(runs.get(name, ()), "usable") for name in _PRINTED_MEDIANS}
    if not all(usable.values()):
        return untestable(f"usable runs of the models {' and '.join(_PRINTED_MEDIANS)}")
    found = {name: round_half_up(median(f1s), 2) for name, f1s in usable.items()}
    of_all = {name: round_half_up(median(_f1s(runs[name], "all")), 2) for name in found}
    return Finding(
        found == _PRINTED_MEDIANS,
        "; ".join(f"{name}: usable {found[name]}, all {of_all[name]}" for name in found),
    )


def _sizes_do_not_differ(study: Study) -> Finding:
    runs = _runs_by_model(study)
    if len(runs) != 2:
        return untestable("runs of two models")
    (a, runs_a), (b, runs_b) = runs.items()
    evidence, p_usable = [], None
    for which in ("usable", "all"):
        f1s_a, f1s_b = _f1s(runs_a, which), _f1s(runs_b, which)
        test = welch_test([float(f1) for f1 in f1s_a], [float(f1) for f1 in f1s_b])
        if test is None:
            return untestable("two usable runs of each model that are not all alike")
        p_usable = test.p if p_usable is None else p_usable
        points = round_half_up(mean(f1s_b) - mean(f1s_a), 2)
        evidence.append(f"{which} runs {points} points, p = {print_p_value(test.p)}")
    return Finding(
        p_usable is not None and p_usable >= 1 - study.settings.confidence,
        f"{b} − {a}, Welch: {'; '.join(evidence)}",
    )


def _data_to_text_retains_least(study: Study) -> Finding:
    if not study.frames.has("arms"):
        return untestable("arms")
    cube = study.arms
    if cube.tasks_R is None or _LEAST not in cube.tasks_R or len(set(cube.tasks_R)) < 2:
        return untestable(f"arms with the task of each record, {_LEAST} and another")
    tasks_R = np.array(cube.tasks_R)
    holds, evidence = True, []
    for arm, ratio_R in zip(cube.arms, cube.ratio_RA.T, strict=True):
        means = {task: float(100 * ratio_R[tasks_R == task].mean()) for task in set(cube.tasks_R)}
        rising = dict(sorted(means.items(), key=lambda item: (item[1], item[0])))
        others = [mean for task, mean in means.items() if task != _LEAST]
        holds = holds and means[_LEAST] < min(others)
        evidence.append(f"{arm}: {chain(rising, _one_decimal)} %")
    return Finding(holds, "; ".join(evidence))


def _edited_as_in_the_caption(study: Study) -> Finding:
    if not study.frames.has("arms"):
        return untestable("arms")
    cube = study.arms
    count = cube.counts_RA
    caption_RA = count["dropped"] + count["substituted"] > 0
    changed_RA = caption_RA | (count["rewritten"] > 0)
    by_arm = zip(cube.arms, caption_RA.sum(axis=0), changed_RA.sum(axis=0), strict=True)
    return Finding(
        bool((caption_RA == changed_RA).all()),
        "answers with a claim dropped or substituted / with any change: "
        + "; ".join(f"{arm} {caption} / {changed}" for arm, caption, changed in by_arm)
        + f" of {len(cube.record_ids)}",
    )


MEASURED_CLAIMS = (
    Claim(
        REPAIR_PAPER,
        "Table 1",
        "the median of the usable runs' F1 is 76.00 (7B) and 78.60 (13B)",
        _usable_medians,
    ),
    Claim(
        REPAIR_PAPER,
        "section 5",
        "the usable runs of the two model sizes do not differ significantly",
        _sizes_do_not_differ,
    ),
    Claim(
        REPAIR_PAPER,
        "section 7.4, Table 6",
        "data-to-text retains the least text in every arm",
        _data_to_text_retains_least,
    ),
    Claim(
        REPAIR_PAPER,
        "Table 7, caption",
        "an edited answer is one with at least one claim dropped or substituted",
        _edited_as_in_the_caption,
    ),
)


def _runs_by_model(study: Study) -> dict[str, list[DetectorRun]]:
    """Return each model's runs; none where they are not given."""
    if not study.frames.has("runs"):
        return {}
    return dict(by_model(study.runs))


def _f1s(runs: Sequence[DetectorRun], which: str) -> list[Fraction]:
    """Return the F1s of `usable` or `all` runs."""
    return [run.f1 for run in runs if run.usable or which == "all"]


def _one_decimal(value: float) -> str:
    return round_half_up(value, 1)
