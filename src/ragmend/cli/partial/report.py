"""`ragmend report --partial`: the report if it can be made, else one of what exists."""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ragmend.cli.context import Context
from ragmend.cli.experiment import Experiment
from ragmend.cli.partial.missing import (
    RESULT_STAGES,
    Missing,
    missing_detectors,
    missing_stages,
    read_states,
    usable_stages,
)
from ragmend.errors import OutputError, PreemptedError, RagmendError
from ragmend.io import write_bytes
from ragmend.manifest import State
from ragmend.paths import RunPaths, StageName
from ragmend.run_lock import FileLock


class PartialReport(NamedTuple):
    """The report of a run that is not finished: where it is, what is missing, how much it has."""

    path: Path
    missing: tuple[Missing, ...]
    n_tables: int


def report_what_exists(
    experiment: Experiment, *, redo: bool = False, job_lines: Sequence[str] = ()
) -> PartialReport | None:
    """Write the report of a run, or where it is not finished one of what is complete.

    Only records of complete stages are used: a statistic over a part of them would look like one
    over the whole. It goes to a folder of its own, without a manifest, and no stage takes it for
    a result.

    Args:
        experiment: The run.
        redo: Write the report again although it is complete.
        job_lines: What the cluster says of the run's jobs.

    Returns:
        None where the report itself was made.

    Raises:
        RunStateError: Another command writes into this folder.
        OutputError: A file cannot be written.
    """
    failure: dict[StageName, str] = {}
    states = read_states(experiment.context)
    if _is_recorded(states, redo=redo):
        try:
            if states["analyze"].kind == "absent":
                experiment.run(only="analyze")
            experiment.run(only="report", redo="report" if redo else None)
        except (OutputError, PreemptedError):
            raise
        except RagmendError as error:
            failure = {"analyze": f"cannot be made: {error}"}
        else:
            return None
    # Not the run's own lock: jobs that begin meanwhile would be refused, and fail for good.
    paths = experiment.context.paths
    with FileLock(paths.partial_lock, unlock=paths.root):
        return _write(experiment.context, failure, job_lines)


def _is_recorded(states: Mapping[StageName, State], *, redo: bool) -> bool:
    """Tell whether there is all that the report needs, and nothing in its way."""
    *_, last = RESULT_STAGES
    return all(
        state.kind == "complete"
        or (name in RESULT_STAGES and state.kind == "absent")
        or (name == last and redo)
        for name, state in states.items()
    )


def _write(
    context: Context, failure: Mapping[StageName, str], job_lines: Sequence[str]
) -> PartialReport:
    from ragmend.analysis.analyze import print_analysis
    from ragmend.analysis.report import render_html, render_markdown
    from ragmend.cli.partial.results import analyze_what_exists, mark_incomplete
    from ragmend.cli.results import analysis_files

    states = read_states(context)
    results = analyze_what_exists(context, usable_stages(states))
    stages = list(missing_stages(context, states, results.stages, {**results.faults, **failure}))
    missing = (*stages, *missing_detectors(results.runs))
    analysis = mark_incomplete(results.analysis, f"of an incomplete run: {name_missing(stages)}")
    printed = print_analysis(analysis)
    update = {"missing": tuple(m.line for m in missing), "jobs": tuple(job_lines)}
    summary = results.summary.model_copy(update=update)
    drawings = {name: figure.images["svg"].decode() for name, figure in analysis.figures.items()}
    paths = RunPaths(context.paths.partial)
    files = {paths.root / name: content for name, content in analysis_files(analysis).items()}
    # The report comes last: of a kill in between none is left that speaks of other tables.
    files[paths.report_text] = render_markdown(printed, summary)
    files[paths.report] = render_html(printed, summary, drawings)
    _replace_folder(paths.root, files)
    return PartialReport(paths.report, missing, len(analysis.tables))


def name_missing(missing: Sequence[Missing]) -> str:
    """Say what is missing: "judge is missing", "propose, judge are missing"."""
    names = [each.name for each in missing]
    return f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} missing"


def _replace_folder(folder: Path, files: Mapping[Path, bytes]) -> None:
    """Write files into a folder that then holds nothing else.

    Raises:
        OutputError: That cannot be done.
    """
    try:
        if folder.is_symlink() or folder.is_file():
            folder.unlink()
        elif folder.exists():
            shutil.rmtree(folder)
    except OSError as error:
        raise OutputError.of(folder, error) from error
    for path, content in files.items():
        write_bytes(path, content)
