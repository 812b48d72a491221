"""What the printed scores of the paper on text-to-SQL grounding imply of each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from ragmend.analysis.printing.table import round_half_up
from ragmend.analysis.published.claim import Claim, Finding, untestable
from ragmend.analysis.published.score_claims import OWN, SQL_PAPER
from ragmend.analysis.published.scores import (
    MACRO,
    Printed,
    Range,
    ScoreLine,
    f1_range,
    mean_range,
    printed_scores,
)
from ragmend.analysis.study import Study


class _Recomputed(NamedTuple):
    """A printed score, and what the scores that it is made from say of it."""

    where: str
    made_from: str
    printed: Printed
    value: Fraction
    """From the printed values themselves."""
    within: Range
    """From all that may have been rounded to them."""


def _macro_f1_is_the_mean(study: Study) -> Finding:
    found = list(_macro_means(printed_scores(study), ("f1",)))
    if not found:
        return untestable("published macro F1 beside the tasks' own")
    harmonic = [
        f"the harmonic mean of {OWN}'s macro precision and recall would be "
        f"{round_half_up(_f1(line.precision, line.recall), line.f1.digits)}, printed {line.f1.text}"
        for line in printed_scores(study)
        if line.table == "1" and line.group == MACRO and line.method == OWN
        if line.precision and line.recall and line.f1
    ]
    return _compare(found, *harmonic)


def _macro_precision_and_recall_are_means(study: Study) -> Finding:
    found = list(_macro_means(printed_scores(study), ("precision", "recall")))
    return _compare(found) if found else untestable("published macro scores beside the tasks' own")


def _f1_follows_from_precision_and_recall(study: Study) -> Finding:
    found = [
        _Recomputed(
            f"Table {line.table}, {line.group}, {line.system}",
            f"precision {line.precision.text} and recall {line.recall.text}",
            line.f1,
            _f1(line.precision, line.recall),
            within,
        )
        for line in printed_scores(study)
        if line.group != MACRO and line.precision and line.recall and line.f1
        if (within := f1_range(line.precision.range, line.recall.range)) is not None
    ]
    return _compare(found) if found else untestable("published precision, recall and F1 of a group")


CONSISTENCY_CLAIMS = (
    Claim(
        SQL_PAPER,
        "every table with tasks",
        "macro F1 is the mean of the tasks' F1",
        _macro_f1_is_the_mean,
    ),
    Claim(
        SQL_PAPER,
        "every table with tasks",
        "macro precision and recall are the means of the tasks'",
        _macro_precision_and_recall_are_means,
    ),
    Claim(
        SQL_PAPER,
        "every row of a single group",
        "F1 is the harmonic mean of the printed precision and recall",
        _f1_follows_from_precision_and_recall,
    ),
)


def _macro_means(lines: Sequence[ScoreLine], names: Sequence[str]) -> Iterator[_Recomputed]:
    """Yield every macro score whose tasks' scores are all printed."""
    tasks: dict[tuple[str, str, str], list[ScoreLine]] = {}
    for line in lines:
        if line.group != MACRO:
            tasks.setdefault((line.table, line.method, line.model), []).append(line)
    for line in lines:
        own = tasks.get((line.table, line.method, line.model), [])
        for name in names if line.group == MACRO else ():
            macro, parts = line.score(name), [task.score(name) for task in own]
            printed = [part for part in parts if part is not None]
            if macro is None or not printed or len(printed) < len(parts):
                continue
            yield _Recomputed(
                f"Table {line.table}, {line.system}, {name}",
                f"the {len(printed)} tasks'",
                macro,
                sum((part.value for part in printed), Fraction(0)) / len(printed),
                mean_range([part.range for part in printed]),
            )


def _compare(found: Sequence[_Recomputed], *remarks: str) -> Finding:
    """Say how many printed scores come out, come out but for rounding, and do not."""
    differing = [one for one in found if _as_printed(one) != one.printed.text]
    wrong = [one for one in differing if not one.within.meets(one.printed.range)]
    rounded = [one for one in differing if one not in wrong]
    counts = (
        f"{len(found) - len(differing)} of {len(found)} come out as printed, {len(rounded)} "
        f"differ by no more than rounding allows, {len(wrong)} by more"
    )
    beyond = [
        f"{one.where}: {_as_printed(one)} from {one.made_from}, printed {one.printed.text}"
        for one in wrong
    ]
    within = ", ".join(
        f"{one.where} ({_as_printed(one)}, printed {one.printed.text})" for one in rounded
    )
    named = [*beyond, *([f"rounding alone: {within}"] if within else [])]
    return Finding(not wrong, "; ".join([counts, *named, *remarks]))


def _as_printed(one: _Recomputed) -> str:
    return round_half_up(one.value, one.printed.digits)


def _f1(precision: Printed, recall: Printed) -> Fraction:
    total = precision.value + recall.value
    return 2 * precision.value * recall.value / total if total else Fraction(0)
