"""Stage `report`: report.md and a self-contained report.html, from the printed analysis."""

import shutil
from pathlib import Path

from pydantic import JsonValue

from ragmend.cli.context import Context, Outcome, Stage, run_inputs
from ragmend.cli.faults import faults_inputs
from ragmend.cli.stages.analyze import result_settings
from ragmend.io import read_file, read_record, write_bytes


def _execute(context: Context) -> Outcome:
    from ragmend.analysis.printing.printed import PrintedAnalysis
    from ragmend.analysis.report import render_html, render_markdown
    from ragmend.cli.results import summarize

    paths = context.paths
    printed = read_record(paths.analysis, PrintedAnalysis)
    summary = summarize(context)
    drawings = {
        figure.name: read_file(paths.figures / f"{figure.name}.svg").decode()
        for figure in printed.figures
    }
    write_bytes(paths.report_text, render_markdown(printed, summary))
    write_bytes(paths.report, render_html(printed, summary, drawings))
    counts: dict[str, JsonValue] = {"files": 2}
    return Outcome((paths.report_text, paths.report), counts)


def _inputs(context: Context) -> dict[str, Path]:
    paths = context.paths
    folders = (paths.verdicts.parent, paths.candidates.parent, paths.judgements.parent)
    files = (paths.analysis, paths.lock, paths.population)  # the first has the drawings' hashes
    return run_inputs(context, *files) | faults_inputs(context, *folders)


def _remove_partial(context: Context) -> None:
    """Take away the report of what existed while the run was not finished."""
    shutil.rmtree(context.paths.partial, ignore_errors=True)


REPORT = Stage(
    name="report",
    manifest=lambda context: context.paths.report_manifest,
    inputs=_inputs,
    settings=lambda config: {**result_settings(config), "name": config.name},
    execute=_execute,
    finish=_remove_partial,
)
