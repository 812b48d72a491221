"""The trained detectors of a run as text tables and as a table of runs; nothing else is needed."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from fractions import Fraction

from ragmend.analysis.inputs.frames import Frames
from ragmend.analysis.inputs.trained_runs import development_frame, run_frame
from ragmend.analysis.printing.notes import fault_note
from ragmend.analysis.printing.table import Table, print_rows, round_half_up
from ragmend.analysis.settings import Provenance, Settings
from ragmend.analysis.study import Study
from ragmend.analysis.tables.recipes import TABLES, reason_to_leave_out
from ragmend.cli.detector_runs import read_detector_runs, remarks_on_runs
from ragmend.config import Config
from ragmend.errors import RunStateError
from ragmend.paths import RunPaths
from ragmend.trained import DetectorRunFacts

PRINTED_TABLES = (
    "table1_detectors", "seed_comparison", "detector_failures", "detector_development",
    "detector_runs", "detector_scores",
)  # fmt: skip
_F1_DIGITS = 4  # for people; the counts beside it are exact


def format_detector_tables(config: Config, paths: RunPaths) -> str:
    """Return the tables of the trained detectors as aligned columns, each note once at the end.

    Args:
        config: With detectors of kind `trained`.
        paths: The run folder; only what training and predicting left there is read.

    Raises:
        RunStateError: The configuration trains no detector, or none is trained or predicted yet.
        DataError, MissingInputError: As `read_detector_runs`.
        StatisticsError: The files contradict each other.
    """
    study = _study(config, _read(config, paths))
    reasons = {name: reason_to_leave_out(study, TABLES[name]) for name in PRINTED_TABLES}
    tables = [TABLES[name].make(study) for name, reason in reasons.items() if reason is None]
    shown = [table for table in tables if not table.is_lookup]
    without = [
        f"without  {', '.join(name for name, why in reasons.items() if why == reason)}: {reason}"
        for reason in dict.fromkeys(reasons.values())
        if reason is not None
    ]
    unsaid = fault_note(study.provenance)  # of the judges' and others' answers: not asked here
    notes = dict.fromkeys(note for table in shown for note in table.notes if note != unsaid)
    blocks = [_aligned(table) for table in shown]
    return "\n\n".join([*blocks, "\n".join([*(f"* {note}" for note in notes), *without])])


def runs_csv(config: Config, paths: RunPaths) -> bytes:
    """Return one row a run, which `ragmend analyze --runs` reads back to the same tables.

    Args:
        config: With detectors of kind `trained`.
        paths: The run folder.

    Raises:
        RunStateError, DataError, MissingInputError: As `format_detector_tables`.
    """
    frame = run_frame(_read(config, paths))
    scores = [_printed_f1(*row) for row in zip(frame["tp"], frame["fp"], frame["fn"], strict=True)]
    frame.insert(2, "f1", scores)
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(frame.columns)
    # Blank where nothing is known; a float as `repr` has all its digits.
    rows = frame.astype(object).where(frame.notna(), "").itertuples(index=False, name=None)
    writer.writerows(rows)
    return buffer.getvalue().encode()


def _read(config: Config, paths: RunPaths) -> list[DetectorRunFacts]:
    runs = read_detector_runs(config, paths)
    if not runs:
        raise RunStateError(
            f"{paths.root}: none is trained here: detector.kind is {config.detector.kind!r}"
        )
    if all(run.health is None for run in runs):
        names = ", ".join(f"{run.run_id} ({run.unscored})" for run in runs)
        raise RunStateError(
            f"{paths.root}: no detector is trained: {names}; `ragmend detect train` does it"
        )
    return runs


def _study(config: Config, runs: Sequence[DetectorRunFacts]) -> Study:
    import pandas as pd

    scores = [score.model_dump() for run in runs for score in run.scores]
    frames = Frames(
        runs=run_frame(runs),
        development=development_frame(runs),
        detectors=pd.DataFrame(scores) if scores else None,
    )
    analysis = config.analysis
    settings = Settings(seed=analysis.seed, confidence=analysis.confidence)
    remarks = tuple(remarks_on_runs(runs, split=config.data.split))
    return Study(frames, settings, Provenance(remarks=remarks))


def _printed_f1(tp: int, fp: int, fn: int) -> str | None:
    import pandas as pd

    if pd.isna(tp) or 2 * tp + fp + fn == 0:
        return None
    return round_half_up(Fraction(200 * int(tp), int(2 * tp + fp + fn)), _F1_DIGITS)


def _aligned(table: Table) -> str:
    """Return a table with its columns aligned: numbers to the right, text to the left."""
    cells = [[column.heading for column in table.columns], *print_rows(table)]
    rows = [[" ".join(cell.split()) for cell in row] for row in cells]
    return "\n".join([table.title, *_lines(rows, [c.style != "text" for c in table.columns])])


def _lines(rows: Sequence[Sequence[str]], is_number: Sequence[bool]) -> Iterator[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(is_number))]
    for row in rows:
        cells = [
            cell.rjust(width) if number else cell.ljust(width)
            for cell, width, number in zip(row, widths, is_number, strict=True)
        ]
        yield "  ".join(cells).rstrip()
