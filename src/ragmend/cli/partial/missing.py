"""What is missing of a run that is not finished: each part in a line, with what helps."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ragmend.cli.context import Context, Stage
from ragmend.cli.faults import faults_inputs
from ragmend.cli.stages import STAGES
from ragmend.cli.states import look_at_stage, measure_progress
from ragmend.manifest import State
from ragmend.paths import StageName
from ragmend.trained import DetectorRunFacts

RESULT_STAGES: tuple[StageName, ...] = ("analyze", "report")
"""The stages that make results of records; all others record."""


class Missing(NamedTuple):
    """A part of a run that is missing, and a line on it: state, reason, what helps."""

    name: str
    line: str


def read_states(context: Context) -> dict[StageName, State]:
    """Return the state of every stage, in order; one that cannot be looked at is damaged."""
    return {stage.name: look_at_stage(stage, context) for stage in STAGES}


def usable_stages(states: Mapping[StageName, State]) -> list[StageName]:
    """Return the stages that record and are complete, as are all before them.

    What follows one that is not is made from something else than what is, or was, meant.
    """
    usable: list[StageName] = []
    for name, state in states.items():
        if name in RESULT_STAGES or state.kind != "complete":
            break
        usable.append(name)
    return usable


def missing_stages(
    context: Context,
    states: Mapping[StageName, State],
    usable: Sequence[StageName],
    faults: Mapping[StageName, str],
) -> Iterator[Missing]:
    """Yield the stages of whose results the report has nothing.

    Those that make the report are named only where all before them are complete.

    Args:
        context: The run.
        states: The state of every stage.
        usable: Those whose records are used.
        faults: Of complete stages why their records cannot be, or of those that make results why
            they failed.
    """
    first: str | None = None
    for stage in STAGES:
        state, fault = states[stage.name], faults.get(stage.name)
        is_done = state.kind == "complete" and fault is None
        if stage.name in usable or (stage.name in RESULT_STAGES and (is_done or first)):
            continue
        words = _describe(stage, state, context, first) if fault is None else fault
        yield Missing(stage.name, f"{stage.name}: {words}")
        first = first or stage.name


def missing_detectors(runs: Sequence[DetectorRunFacts]) -> Iterator[Missing]:
    """Yield the trained detectors that gave no verdict yet, those for one reason together."""
    groups: dict[tuple[str, bool], list[str]] = {}
    for run in runs:
        if run.unscored is not None and not run.n_responses:
            groups.setdefault((run.unscored, run.health is not None), []).append(run.run_id)
    for (reason, is_trained), names in groups.items():
        what = "detector" if len(names) == 1 else "detectors"
        helps = f"ragmend detect {'predict' if is_trained else 'train'} …"
        line = f"{what} {', '.join(names)}: {reason}. `{helps}` does it"
        yield Missing(f"{what} {', '.join(names)}", line)


def _describe(stage: Stage, state: State, context: Context, first: str | None) -> str:
    """Say why nothing of a stage is used, and what helps where it is the first one."""
    if state.kind == "complete":
        return f"complete, but not used: {first}, before it, is not complete"
    if state.reasons:
        return f"{state.kind}: {'; '.join(state.reasons)}. `{stage.redo}` does it again"
    progress = measure_progress(stage, context)
    found = f"partial: {progress}, none of it used"
    if progress.is_none:
        found = "missing: nothing is recorded"
    if first is not None:
        return f"{found}; it waits for {first}"
    faulty = ", ".join(faults_inputs(context, stage.manifest(context).parent))
    if faulty:
        return (
            f"{found}; its faulty answers are listed in {faulty}. `ragmend run …` asks for them "
            f"again, `{stage.accept}` goes on without these records"
        )
    return f"{found}. `{_command(stage, context)}` {'does it' if progress.is_none else 'goes on'}"


def _command(stage: Stage, context: Context) -> str:
    is_trained = stage.name == "detect" and context.config.detector.kind == "trained"
    return "ragmend detect predict …" if is_trained else "ragmend run …"
