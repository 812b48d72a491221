"""Tables and figures of what is complete of a run, each marked as of an incomplete one."""

import shlex
from collections.abc import Sequence
from typing import NamedTuple

from ragmend.analysis.analyze import Analysis, analyze
from ragmend.analysis.inputs.from_records import build_frames
from ragmend.analysis.report import Summary
from ragmend.analysis.tables.recipes import TABLES
from ragmend.cli.context import Context
from ragmend.cli.detector_runs import read_readable_runs
from ragmend.cli.provenance import provenance_of
from ragmend.cli.recorded import Recorded, population_ids, read_run
from ragmend.cli.results import settings_of, summarize
from ragmend.errors import FaultError, RagmendError
from ragmend.paths import StageName
from ragmend.trained import DetectorRunFacts

_RECORDS: dict[str, StageName] = {
    "selection": "select",
    "records": "select",
    "detectors": "select",
    "claims": "verify",
    "verdicts": "verify",
    "candidates": "propose",
    "rewrites": "propose",
    "claims.rewrite_proposed": "propose",
    "arms": "assemble",
    "answers": "assemble",
    "actions": "assemble",
    "labels": "judge",
}
"""The stage without which an input of a table is not there."""


class Results(NamedTuple):
    """What could be made of a run.

    Attributes:
        analysis: Its tables; there may be none.
        summary: The head of its report.
        stages: Those whose records were used.
        runs: All trained detectors of the configuration.
        faults: Why the records of other complete stages could not be used.
    """

    analysis: Analysis
    summary: Summary
    stages: tuple[StageName, ...]
    runs: tuple[DetectorRunFacts, ...]
    faults: dict[StageName, str]


def analyze_what_exists(context: Context, stages: Sequence[StageName]) -> Results:
    """Make every table that complete stages allow.

    Where the records of all of them do not go together, or cannot be read, the last stage is left
    out with the error's message, and then the next, until what is left does.

    Args:
        context: The run.
        stages: The complete ones, from the first on.

    Raises:
        RagmendError: Not even the configuration's own facts can be told.
    """
    runs = tuple(read_readable_runs(context.config, context.paths))
    used, faults = list(stages), {}
    while True:
        known = runs if any(run.health is not None for run in runs) else ()
        recorded = Recorded(frozenset(used), known)
        try:
            analysis = _analyze(context, recorded)
            summary = summarize(context, recorded)
        except RagmendError as error:
            if not used:
                raise
            faults[used.pop()] = f"complete, but not used: {error}"
            continue
        return Results(analysis, summary, tuple(used), runs, faults)


def mark_incomplete(analysis: Analysis, note: str) -> Analysis:
    """Return an analysis whose every table and figure says of what it is.

    Args:
        analysis: What was made.
        note: Says which stages are missing.
    """
    tables = {
        name: table._replace(notes=(*table.notes, note)) for name, table in analysis.tables.items()
    }
    figures = {
        name: figure._replace(caption=f"{figure.caption} ({note})")
        for name, figure in analysis.figures.items()
    }
    return analysis._replace(tables=tables, figures=figures)


def _analyze(context: Context, recorded: Recorded) -> Analysis:
    if "select" in recorded.stages and not population_ids(context, recorded):
        raise FaultError("no record is left: each has an accepted fault")
    records = read_run(context, recorded)
    command = shlex.join(["ragmend", "report", str(context.paths.root), "--partial"])
    provenance = provenance_of(context, recorded).model_copy(update={"command": command})
    analysis = analyze(
        build_frames(records, threshold=context.config.verifier.threshold),
        settings=settings_of(context.config),
        provenance=provenance,
        keep_going=True,
    )
    left_out = {name: _explain(name, why, recorded) for name, why in analysis.left_out.items()}
    return analysis._replace(left_out=left_out)


def _explain(name: str, reason: str, recorded: Recorded) -> str:
    """Return why a table is left out, with the stage that would record what it needs."""
    needs = TABLES[name].needs if name in TABLES else ()
    stages = {_RECORDS.get(need) or _RECORDS.get(need.partition(".")[0]) for need in needs}
    missing = [stage for stage in stages if stage is not None and stage not in recorded.stages]
    return f"{reason}, of the stage {', '.join(sorted(missing))}" if missing else reason
