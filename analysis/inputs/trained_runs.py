"""From the facts of trained detectors to the frames of their runs and their development."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragmend.records import DetectorScore
from ragmend.scoring import Score
from ragmend.trained import DetectorRunFacts

if TYPE_CHECKING:
    import pandas as pd

_RUN_COLUMNS = [
    "model", "seed", "tp", "fp", "fn", "usable", "population", "empty_pct", "unparsed_pct",
    "f1_read", "health", "reason", "unscored",
]  # fmt: skip


def run_frame(runs: Sequence[DetectorRunFacts]) -> pd.DataFrame:
    """Return one row a run of the configuration, those without a score too.

    Its F1 is not there but what it comes of, so that nothing is rounded.

    Args:
        runs: All of them.
    """
    import pandas as pd

    frame = pd.DataFrame([_run_row(run) for run in runs], columns=_RUN_COLUMNS, dtype=object)
    counts = dict.fromkeys(("tp", "fp", "fn", "usable", "population"), "Int64")
    return frame.astype(counts | dict.fromkeys(("empty_pct", "unparsed_pct", "f1_read"), "float64"))


def development_frame(runs: Sequence[DetectorRunFacts]) -> pd.DataFrame | None:
    """Return one row a run, epoch and level; None where no run is trained."""
    import pandas as pd

    rows = [
        {
            "run_id": run.run_id,
            "model": run.model,
            "seed": str(run.seed),
            "health": run.health,
            **score.model_dump(),
        }
        for run in runs
        for score in run.epochs
    ]
    return pd.DataFrame(rows, dtype=object) if rows else None


def _run_row(run: DetectorRunFacts) -> dict[str, object]:
    counts = run.pooled if run.unscored is None else None
    return {
        "model": run.model,
        "seed": str(run.seed),
        "tp": None if counts is None else counts.tp,
        "fp": None if counts is None else counts.fp,
        "fn": None if counts is None else counts.fn,
        "usable": None if run.is_usable is None else int(run.is_usable),
        "population": int(run.is_population),
        "empty_pct": _share(run.n_empty, run.n_responses),
        "unparsed_pct": _share(run.n_unparsed, run.n_responses),
        "f1_read": _f1(run.pooled_read),
        "health": run.health,
        "reason": " ".join("; ".join(run.reasons).split()) or None,  # on one line, for a CSV
        "unscored": run.unscored,
    }


def _f1(counts: DetectorScore | None) -> float | None:
    if counts is None:
        return None
    f1 = Score(counts.tp, counts.fp, counts.fn, counts.tn).f1
    return None if f1 is None else 100 * f1


def _share(count: int, of: int) -> float | None:
    return 100 * count / of if of else None
