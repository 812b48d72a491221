"""The runs of detectors, one a model and seed, with exact scores; those without one by name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from ragmend.analysis.inputs.frames import Frames, needed, require_columns
from ragmend.analysis.inputs.places import is_nothing, read_column, refuse_rows
from ragmend.values import DECIMAL, read_count

if TYPE_CHECKING:
    import pandas as pd

_KEY = ["model", "seed"]
_COUNTS = ("tp", "fp", "fn")
UNDEFINED_F1 = "F1 undefined: nothing was flagged, and nothing is hallucinated by gold"


class DetectorRun(NamedTuple):
    """One trained detector."""

    model: str
    seed: str
    f1: Fraction
    """Percent, exactly: of the input's counts, else as printed there."""
    usable: bool
    is_population: bool
    """Whether its flags are the population; False where the input does not say."""
    health: str | None = None
    """The verdict on its training; None where the input does not say."""
    reason: str | None = None
    """The verdict in words."""


class UnscoredRun(NamedTuple):
    """A run that has no F1: it is named, and counted nowhere."""

    model: str
    seed: str
    why: str
    usable: bool | None
    """None where nobody has said."""
    health: str | None
    reason: str | None


class RunList(NamedTuple):
    """All runs, each by model, then seed, in natural order."""

    scored: list[DetectorRun]
    unscored: list[UnscoredRun]


def detector_runs(frames: Frames, *, name: str = "runs") -> list[DetectorRun]:
    """Return the runs that have a score; see `read_runs`."""
    return read_runs(frames, name=name).scored


def read_runs(frames: Frames, *, name: str = "runs") -> RunList:
    """Return the runs that have a score, and those that have none.

    Args:
        frames: Its runs: model, seed, usable (0/1), and f1 (percent) or the counts tp, fp, fn
            over responses, or both; perhaps population (0/1), health, reason, and unscored:
            why a run has no score, and is only named.
        name: The name of the runs in messages.

    Raises:
        StatisticsError: A run occurs twice, lacks a value, its F1 is no percentage or not that
            of its counts; or several runs are marked as the population's.
    """
    import pandas as pd

    runs = needed(frames, "runs", [*_KEY, "usable"], key=_KEY).reset_index(drop=True)
    if not set(_COUNTS) <= set(runs):
        require_columns(runs, ["f1"], table="runs")
    for column in _KEY:
        refuse_rows(runs, runs[column].isna(), _KEY, name, f"{column} is missing")
    scores, unscored = _scores(runs, name), _texts(runs, "unscored")
    is_lacking = [pd.isna(cell) for cell in runs["usable"]]
    _refuse(runs, [a and not b for a, b in zip(is_lacking, unscored, strict=True)], name,
            "usable is missing")  # fmt: skip
    population = _population(runs, name)
    health, reason = _texts(runs, "health"), _texts(runs, "reason")
    found = RunList([], [])
    for row, score in enumerate(scores):
        named = (str(runs["model"].iloc[row]), str(runs["seed"].iloc[row]))
        usable = None if is_lacking[row] else bool(runs["usable"].iloc[row])
        said = (health[row], reason[row])
        if score is None:
            why = unscored[row] or UNDEFINED_F1
            found.unscored.append(UnscoredRun(*named, why, usable, *said))
        else:
            found.scored.append(DetectorRun(*named, score, bool(usable), population[row], *said))
    found.scored.sort(key=run_order)
    found.unscored.sort(key=run_order)
    return found


def by_model(runs: Sequence[DetectorRun]) -> Iterator[tuple[str, list[DetectorRun]]]:
    """Yield each model with its runs; the runs are sorted by model."""
    for model, own in groupby(runs, key=lambda run: run.model):
        yield model, list(own)


def natural_order(name: str) -> tuple[tuple[int, str], ...]:
    """Return what names are sorted by: numbers within them by value, so that 7b precedes 13b."""
    parts = re.split(r"([0-9]+)", name)  # text and numbers in turn, text first
    # By length, then by digits, is by value, however many digits there are.
    bare = [part.lstrip("0") if i % 2 else part for i, part in enumerate(parts)]
    return tuple((len(part) if i % 2 else 0, part) for i, part in enumerate(bare))


def run_order(run: DetectorRun | UnscoredRun) -> tuple[object, ...]:
    """Return what runs are sorted by: the model, then the seed."""
    return natural_order(run.model), natural_order(run.seed)


def _scores(runs: pd.DataFrame, name: str) -> list[Fraction | None]:
    """Return each run's F1 in percent; None where there is none and the input says why."""
    rows = list(zip(_cells(runs, "f1"), _counts(runs, name), _texts(runs, "unscored"), strict=True))
    has_both = [why is not None and (f1, counts) != (None, None) for f1, counts, why in rows]
    _refuse(runs, has_both, name, "unscored says why there is no score, and yet there is one")
    _refuse(runs, [row == (None, None, None) for row in rows], name, "f1 is missing")
    printed = [None if f1 is None else _percentage(f1) for f1, _, _ in rows]
    is_none = [row[0] is not None and f1 is None for row, f1 in zip(rows, printed, strict=True)]
    _refuse(runs, is_none, name, "f1 is not a percentage from 0 to 100")
    is_other = [not _agree(f1, counts) for f1, counts, _ in rows]
    _refuse(runs, is_other, name, "f1 is not what tp, fp and fn give")
    return [
        f1 if counts is None else _exact_f1(counts)
        for f1, (_, counts, _) in zip(printed, rows, strict=True)
    ]


def _counts(runs: pd.DataFrame, name: str) -> list[tuple[int, ...] | None]:
    """Return tp, fp and fn of each run; None where they are blank, or no columns."""
    if not set(_COUNTS) <= set(runs):
        return [None] * len(runs)
    columns = [read_column(runs, column, read_count, _KEY, name) for column in _COUNTS]
    rows = list(zip(*columns, strict=True))
    is_partial = [0 < sum(count is None for count in row) < len(row) for row in rows]
    _refuse(runs, is_partial, name, "of tp, fp and fn one is blank and another is not")
    return [None if None in row else tuple(map(int, row)) for row in rows]


def _exact_f1(counts: Sequence[int]) -> Fraction | None:
    """Return F1 in percent; None where it is undefined."""
    tp, fp, fn = counts
    total = 2 * tp + fp + fn
    return Fraction(200 * tp, total) if total else None


def _agree(printed: object, counts: Sequence[int] | None) -> bool:
    """Tell whether a printed F1 is that of the counts, rounded in whatever way."""
    if printed is None or counts is None:
        return True
    exact, number = _exact_f1(counts), Decimal(str(printed))
    exponent = number.as_tuple().exponent
    if exact is None or not isinstance(exponent, int):
        return False
    return abs(Fraction(number) - exact) <= Fraction(10) ** exponent / 2


def _cells(runs: pd.DataFrame, column: str) -> list[object]:
    """Return a column's values, None where one is blank or there is no such column."""
    if column not in runs:
        return [None] * len(runs)
    return [None if is_nothing(value) else value for value in runs[column]]


def _texts(runs: pd.DataFrame, column: str) -> list[str | None]:
    return [None if value is None else str(value) for value in _cells(runs, column)]


def _refuse(runs: pd.DataFrame, wrong: Sequence[bool], name: str, message: str) -> None:
    import pandas as pd

    refuse_rows(runs, pd.Series(wrong, index=runs.index, dtype=bool), _KEY, name, message)


def _population(runs: pd.DataFrame, name: str) -> list[bool]:
    if "population" not in runs:
        return [False] * len(runs)
    column = runs["population"]
    refuse_rows(runs, ~column.isin([0, 1]), _KEY, name, "population is neither 0 nor 1")
    is_other = (column == 1) & (column.cumsum() != 1)
    refuse_rows(runs, is_other, _KEY, name, "another run is already marked as the population's")
    return [bool(value) for value in column]


def _percentage(value: Any) -> Fraction | None:  # noqa: ANN401 - a cell of anyone's table
    """Return a cell as the exact decimal that it prints; None where it is no percentage."""
    text = str(value)
    if DECIMAL.fullmatch(text) is None:
        return None
    number = Decimal(text)
    return Fraction(number) if 0 <= number <= 100 else None
