"""Annotated answers grouped by arm and task: their counts, and intervals of the main shares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ragmend.analysis.printing.notes import few_sources_note
from ragmend.analysis.settings import Settings
from ragmend.analysis.statistics.clusters import fewest_sources
from ragmend.analysis.statistics.intervals import cluster_share_intervals
from ragmend.analysis.tables.gold_outcomes import GoldOutcomes

if TYPE_CHECKING:
    import pandas as pd


class Ends(NamedTuple):
    """The ends of an interval in percent; None where there is no interval."""

    low: float | None
    high: float | None


class GoldGroup(NamedTuple):
    """What one arm did to the answers of one task."""

    arm: str
    task: str
    sums: pd.Series[int]
    ends: Mapping[str, Ends]
    """Interval of each main share, by the name of its part."""

    def count(self, name: str) -> int:
        """Return one count of `GoldOutcomes.by_arm`, summed over the answers."""
        return int(self.sums[name])


def gold_groups(
    outcomes: GoldOutcomes, shares: Sequence[tuple[str, str]], settings: Settings
) -> Iterator[GoldGroup]:
    """Yield the groups arm by arm, in each all tasks together first.

    Args:
        outcomes: The annotated answers.
        shares: The counts, part and whole, whose share gets an interval.
        settings: Bootstrap of the intervals, over sources.
    """
    of_task = {task: outcomes.of_task(task) for task in outcomes.tasks}
    wholes = {whole: [part for part, of in shares if of == whole] for _, whole in shares}
    intervals = {
        (task, part): ends
        for task, answers in of_task.items()
        for whole, parts in wholes.items()
        for part, ends in _share_intervals(answers, parts, whole, settings).items()
    }
    for arm in outcomes.by_arm:
        for task, answers in of_task.items():
            ends = {part: intervals[task, part][arm] for part, _ in shares}
            yield GoldGroup(arm, task, answers[arm].sum(numeric_only=True), ends)


def _share_intervals(
    answers: Mapping[str, pd.DataFrame], parts: Sequence[str], whole: str, settings: Settings
) -> dict[str, dict[str, Ends]]:
    """Return the interval of each part's share by arm, all on the same draws of sources."""
    import pandas as pd

    # What an answer's claims are by gold is the same in every arm.
    first = next(iter(answers.values()))
    columns = [(part, arm) for part in parts for arm in answers]
    units = pd.DataFrame([answers[arm][part].to_numpy() for part, arm in columns]).T
    units.insert(0, "whole", first[whole].to_numpy())
    sums = units.groupby(first["source_id"].to_numpy()).sum()  # in order of source id
    sums = sums[sums["whole"] > 0]
    found = cluster_share_intervals(
        sums.drop(columns="whole").to_numpy(),
        sums["whole"].to_numpy(),
        n_resamples=settings.n_resamples,
        seed=settings.seed,
        confidence=settings.confidence,
    )
    if found is None:
        return {part: dict.fromkeys(answers, Ends(None, None)) for part in parts}
    ends: dict[str, dict[str, Ends]] = {part: {} for part in parts}
    for (part, arm), interval in zip(columns, found, strict=True):
        ends[part][arm] = Ends(100 * interval.low, 100 * interval.high)
    return ends


def outcome_notes(outcomes: GoldOutcomes, settings: Settings) -> Iterator[str]:
    """Say which answers are left out, and what the intervals are."""
    answers = next(iter(outcomes.by_arm.values()))
    if outcomes.n_unannotated:
        n_all = outcomes.n_unannotated + len(answers)
        yield f"{outcomes.n_unannotated} of {n_all} answers have no gold label and are left out"
    unit = "sources" if outcomes.has_sources else "answers (this input does not name their sources)"
    yield (
        f"interval: {100 * settings.confidence:g} % percentile bootstrap over {unit}, "
        f"{settings.n_resamples} resamples, seed {settings.seed}; — from a single one; where both "
        "ends are equal, all were alike here, which does not show that all are"
    )
    if outcomes.has_sources:
        groups = [*zip(answers["task"], answers["gold"], strict=True)]
        few = few_sources_note(fewest_sources(answers["source_id"].tolist(), groups))
        if few is not None:
            yield few
