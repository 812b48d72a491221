"""The runs of detectors, one a model and seed, with scores as exact decimals."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from ragmend.analysis.inputs.frames import Frames, needed
from ragmend.analysis.inputs.places import refuse_rows
from ragmend.values import DECIMAL

if TYPE_CHECKING:
    import pandas as pd

_KEY = ["model", "seed"]


class DetectorRun(NamedTuple):
    """One trained detector."""

    model: str
    seed: str
    f1: Fraction
    """Percent, exactly as printed in the input."""
    usable: bool
    is_population: bool
    """Whether its flags are the population; False where the input does not say."""


def detector_runs(frames: Frames, *, name: str = "runs") -> list[DetectorRun]:
    """Return the runs by model, then seed, in natural order.

    Args:
        frames: Its runs: model, seed, f1 (percent), usable (0/1); perhaps population (0/1).
        name: The name of the runs in messages.

    Raises:
        StatisticsError: A run occurs twice, lacks a value, or its F1 is no percentage; or
            several runs are marked as the population's.
    """
    import pandas as pd

    runs = needed(frames, "runs", [*_KEY, "f1", "usable"], key=_KEY).reset_index(drop=True)
    for column in (*_KEY, "f1", "usable"):
        refuse_rows(runs, runs[column].isna(), _KEY, name, f"{column} is missing")
    scores = [_percentage(value) for value in runs["f1"]]
    is_no_score = pd.Series([score is None for score in scores], index=runs.index)
    refuse_rows(runs, is_no_score, _KEY, name, "f1 is not a percentage from 0 to 100")
    population = _population(runs, name)
    found = [
        DetectorRun(str(row.model), str(row.seed), score, bool(row.usable), is_population)
        for row, score, is_population in zip(runs.itertuples(), scores, population, strict=True)
        if score is not None
    ]
    return sorted(found, key=lambda run: (natural_order(run.model), natural_order(run.seed)))


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
