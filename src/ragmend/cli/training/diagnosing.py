"""`ragmend detect diagnose`: how a training is, and what there is to see of it.

The paper lost two of its ten trainings and could not say how: what is needed for that is kept here
(adapter, losses, answers), and looked at again.
"""

import shutil
from collections.abc import Callable, Iterator

from ragmend.cli.context import Context
from ragmend.cli.training.answering import Asked
from ragmend.cli.training.evaluating import read_answers
from ragmend.cli.training.plan import Plan, RunName, plan_training, read_training_data
from ragmend.cli.training.runner import inspect_training
from ragmend.cli.training.stopping import SignalWatch
from ragmend.detector.training.choosing import chosen_epoch
from ragmend.detector.training.health import Evidence, judge_training
from ragmend.errors import RagmendError
from ragmend.io import read_record, read_records, shorten
from ragmend.trained import DetectorAnswer, EpochScore, HealthReport, LogRow

SHOWN_ANSWERS = 3  # probe answers that are quoted


def diagnose(context: Context, run: RunName, *, probe: bool) -> Iterator[str]:
    """Yield what is known of one training, a line each.

    Args:
        context: The run folder.
        run: Which training.
        probe: Whether the weights are loaded and the probe is asked once more.

    Raises:
        RagmendError: The probe cannot be asked.
    """
    plan = plan_training(context, run)
    if not plan.paths.begun.exists():
        yield f"{run.run_id}: not trained"
        return
    parts: tuple[Callable[[], Iterator[str]], ...] = (
        lambda: _describe_state(context, run),
        lambda: _describe_losses(plan),
        lambda: _describe_recorded_health(plan),
        lambda: _look_at_layers(plan),
    )
    for part in parts:
        try:
            yield from part()
        except RagmendError as error:  # what is damaged must not hide the rest
            yield f"  damaged   {error}"
    if probe:
        yield from _probe(context, plan)


def _describe_state(context: Context, run: RunName) -> Iterator[str]:
    state = inspect_training(context, run)
    yield f"{run.run_id}: training {'not complete' if state.kind == 'absent' else state.kind}"
    yield from (f"  {reason}" for reason in state.reasons)


def _describe_recorded_health(plan: Plan) -> Iterator[str]:
    if plan.paths.health.exists():
        yield from _describe_health(read_record(plan.paths.health, HealthReport))


def _describe_losses(plan: Plan) -> Iterator[str]:
    log = list(read_records(plan.paths.log, LogRow)) if plan.paths.log.exists() else []
    losses = [row.loss for row in log if row.loss is not None]
    if losses:
        yield (
            f"  loss      {len(log)} steps: first {losses[0]:.4g}, least {min(losses):.4g}, last "
            f"{losses[-1]:.4g}, {len(log) - len(losses)} that are no numbers"
        )


def _describe_health(health: HealthReport) -> Iterator[str]:
    yield f"  health    {health.verdict}"
    yield from (f"            {reason}" for reason in health.reasons)
    rates = health.answers
    shares = {name: share for name, share in rates if name != "n"}
    named = ", ".join(f"{name} {100 * share:.0f} %" for name, share in shares.items())
    yield f"  answers   {rates.n} to development responses: {named}"
    if health.n_reload_differs is None:
        yield "  reload    not compared: it was killed between its last step and its probe"
    else:
        yield f"  reload    {health.n_reload_differs} answers differ from those before saving"
    if health.tokens is not None:
        tokens = health.tokens
        yield (
            f"  tokens    padding {tokens.pad_token!r}, end {tokens.end_token!r}, "
            f"{tokens.n_without_end} of {tokens.n_targets} targets without a loss on it"
        )


def _look_at_layers(plan: Plan) -> Iterator[str]:
    """Read the norms off the weights as they lie there now, whatever the record says."""
    if not plan.paths.adapter.is_dir():
        return
    layers = plan.kind.norms(plan.job, plan.paths.adapter)
    added = sorted((layer.delta, layer.layer) for layer in layers if layer.delta is not None)
    if not layers:
        return
    broken = len(layers) - len(added)
    span = "" if not added else (
        f": adds least {added[0][0]:.3g} ({added[0][1]}), most {added[-1][0]:.3g} ({added[-1][1]})"
    )  # fmt: skip
    yield f"  layers    {len(layers)} adapted, {broken} with numbers that are none{span}"


def _probe(context: Context, plan: Plan) -> Iterator[str]:
    _, split = read_training_data(context.config)
    best = chosen_epoch(list(read_records(plan.paths.epochs, EpochScore)))
    folder = plan.paths.root / "development" / "diagnose"
    shutil.rmtree(folder, ignore_errors=True)  # it is asked anew each time
    with SignalWatch() as watch:
        answers = Asked(plan, plan.paths.adapter, folder, "diagnose").answer(split.probe, watch)
    verdicts = read_answers(plan, answers, split, best.threshold)
    evidence = Evidence(
        answers=[answer for answer in answers.values() if answer.problem != "too_long"],
        verdicts=verdicts,
        n_hallucinated=sum(
            bool(pair.response.gold_spans)
            for pair in split.probe
            if pair.response.record_id in verdicts
        ),
        in_memory=list(read_records(plan.paths.probe, DetectorAnswer)),
        reloaded=list(answers.values()),
        log=list(read_records(plan.paths.log, LogRow)),
        tokens=plan.kind.token_facts(plan.job, split.train),
        layers=plan.kind.norms(plan.job, plan.paths.adapter),
    )
    health = judge_training(plan.run_id, evidence)
    yield "  asked again:"
    yield from _describe_health(health)
    for answer in list(answers.values())[:SHOWN_ANSWERS]:
        end = "" if answer.ended else " (never ends)"
        yield f"  {answer.record_id}: {shorten(answer.text)}{end}"
