"""From the facts of trained detectors to the frames of their runs and their development."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragmend.trained import DetectorRunFacts

if TYPE_CHECKING:
    import pandas as pd

_RUN_COLUMNS = [
    "model", "seed", "tp", "fp", "fn", "usable", "population", "empty_pct", "unparsed_pct",
    "health", "reason", "unscored",
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
    return frame.astype(counts | dict.fromkeys(("empty_pct", "unparsed_pct"), "float64"))


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


def why_unscored(run: DetectorRunFacts) -> str | None:
    """Say why a run has no counts on the split, or none that can be used."""
    if run.training != "complete":
        why = "not trained" if run.training == "absent" else "training begun, not complete"
        return f"{why}, although predicted: no health verdict" if run.is_predicted else why
    if not run.is_predicted:
        return "prediction begun, not complete" if run.n_evaluations else "trained, not predicted"
    return "no answer has a gold label" if run.pooled is None else None


def _run_row(run: DetectorRunFacts) -> dict[str, object]:
    why, pooled = why_unscored(run), run.pooled
    counts = None if why or pooled is None else pooled
    return {
        "model": run.model,
        "seed": str(run.seed),
        "tp": None if counts is None else counts.tp,
        "fp": None if counts is None else counts.fp,
        "fn": None if counts is None else counts.fn,
        "usable": None if run.health is None else int(run.health == "usable"),
        "population": int(run.is_population),
        "empty_pct": _share(run.n_empty, run.n_responses),
        "unparsed_pct": _share(run.n_unparsed, run.n_responses),
        "health": run.health,
        "reason": "; ".join(run.reasons) or None,
        "unscored": why,
    }


def _share(count: int, of: int) -> float | None:
    return 100 * count / of if of else None
