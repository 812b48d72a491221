"""Stage `analyze`: tables and figures from records; no model is called."""

from pathlib import Path

from pydantic import JsonValue

from ragmend.analysis.settings import PAPER_CONTRASTS
from ragmend.cli.context import Context, Outcome, Stage, run_inputs
from ragmend.cli.detector_runs import detector_run_files
from ragmend.cli.faults import faults_inputs
from ragmend.config import Config
from ragmend.io import dump_record, write_bytes


def _execute(context: Context) -> Outcome:
    from ragmend.analysis.analyze import print_analysis
    from ragmend.cli.results import analysis_files, analyze_run

    analysis = analyze_run(context)
    root = context.paths.root
    files = analysis_files(analysis) | {
        context.paths.relative(context.paths.analysis): dump_record(print_analysis(analysis))
    }
    for name, content in files.items():
        write_bytes(root / name, content)
    counts: dict[str, JsonValue] = {
        "tables": len(analysis.tables),
        "figures": len(analysis.figures),
        "left_out": len(analysis.left_out),
    }
    return Outcome(tuple(root / name for name in files), counts, seed=context.config.analysis.seed)


def result_inputs(context: Context) -> dict[str, Path]:
    """Name every record file that a table may be made from."""
    paths = context.paths
    files = (
        paths.selection,
        paths.detector_scores,
        paths.population,
        paths.sources,
        paths.claims,
        paths.verdicts,
        paths.rewrites,
        paths.candidates,
        paths.actions,
        paths.answers,
        paths.judgements,
        *detector_run_files(context.config, paths),
    )
    folders = (paths.verdicts.parent, paths.candidates.parent, paths.judgements.parent)
    return run_inputs(context, *files) | faults_inputs(context, *folders)


def result_settings(config: Config) -> dict[str, JsonValue]:
    """Return what else decides what the tables say."""
    settings = config.analysis.model_dump(mode="json")
    return {f"analysis.{name}": value for name, value in settings.items()} | {
        "contrasts": [contrast.name for contrast in PAPER_CONTRASTS],
        "judges": [judge.name for judge in config.judges.panel],
        "judges.primary": config.judges.primary,
        "verifier.threshold": config.verifier.threshold,
        "verifier.unstable_within": config.verifier.unstable_within,
    }


ANALYZE = Stage(
    name="analyze",
    manifest=lambda context: context.paths.analysis_manifest,
    inputs=result_inputs,
    settings=result_settings,
    execute=_execute,
)
