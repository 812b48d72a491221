"""Stage `report`: report.md and a self-contained report.html."""

from pathlib import Path

from pydantic import JsonValue

from ragmend.cli.context import Context, Outcome, Stage
from ragmend.cli.stages.analyze import result_inputs, result_settings
from ragmend.io import write_bytes


def _execute(context: Context) -> Outcome:
    from ragmend.analysis.report import render_report
    from ragmend.cli.results import analyze_run, summarize

    analysis = analyze_run(context)
    root = context.paths.root
    files = render_report(analysis.tables, analysis.figures, summarize(context, analysis))
    for name, content in files.items():
        write_bytes(root / name, content)
    counts: dict[str, JsonValue] = {"files": len(files)}
    return Outcome(tuple(root / name for name in files), counts)


def _inputs(context: Context) -> dict[str, Path]:
    lock = {"protocol.lock.json": context.paths.lock}
    return result_inputs(context) | lock


REPORT = Stage(
    name="report",
    manifest=lambda context: context.paths.report_manifest,
    inputs=_inputs,
    settings=lambda config: {**result_settings(config), "name": config.name},
    execute=_execute,
)
