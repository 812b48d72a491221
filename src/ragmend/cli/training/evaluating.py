"""From a training's weights to its chosen epoch and its verdict, on the development answers."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from ragmend.cli.context import say
from ragmend.cli.training.answering import Asked
from ragmend.cli.training.plan import Plan
from ragmend.detector.training.choosing import choose_epoch, chosen_epoch, score_epoch
from ragmend.detector.training.health import Evidence, judge_training
from ragmend.detector.training.job import Watch
from ragmend.detector.training.splitting import TrainingSplit
from ragmend.detector.training.writing import new_folder
from ragmend.errors import AnswerFaultError, DataError, MissingInputError
from ragmend.io import dump_record, read_records, write_bytes, write_records
from ragmend.records import Detection
from ragmend.trained import DetectorAnswer, EpochScore, HealthReport, LogRow


class Trained(NamedTuple):
    """What a training came to."""

    scores: list[EpochScore]
    health: HealthReport


class Chosen(NamedTuple):
    """The epoch that is kept: its score, its answers on development, and how they were read."""

    score: EpochScore
    answers: Mapping[str, DetectorAnswer]
    verdicts: Mapping[str, Detection]


def evaluate_epochs(plan: Plan, split: TrainingSplit, watch: Watch) -> Trained:
    """Ask each epoch's weights about the development answers; keep the best; judge the training."""
    epochs = _trained_epochs(plan)
    answers = {
        epoch: Asked(
            plan, plan.job.weights(epoch), _epoch_folder(plan, epoch), f"epoch {epoch}"
        ).answer(split.development, watch)
        for epoch in epochs
    }
    responses = [pair.response for pair in split.development]
    verdicts: dict[int, dict[str, Detection]] = {}
    scores: list[EpochScore] = []
    for epoch, found in answers.items():
        threshold = plan.kind.choose_threshold(found, responses)
        verdicts[epoch] = read_answers(plan, found, split, threshold)
        asked = [response for response in responses if response.record_id in verdicts[epoch]]
        scores += score_epoch(epoch, asked, verdicts[epoch], threshold=threshold)
    _say_left_out(plan, split, next(iter(answers.values())))
    scores = choose_epoch(scores)
    best = chosen_epoch(scores)
    write_records(plan.paths.epochs, scores)
    write_records(
        plan.paths.development,
        (
            verdicts[best.epoch][r.record_id]
            for r in responses
            if r.record_id in verdicts[best.epoch]
        ),
    )
    _keep(plan, best.epoch)
    chosen = Chosen(best, answers[best.epoch], verdicts[best.epoch])
    health = _judge(plan, split, chosen, last=epochs[-1], watch=watch)
    return Trained(scores, health)


def left_out(answers: Mapping[str, DetectorAnswer]) -> list[str]:
    """Return the ids of the answers that do not fit, which no epoch is asked about."""
    return [answer.record_id for answer in answers.values() if answer.problem == "too_long"]


def _say_left_out(plan: Plan, split: TrainingSplit, answers: Mapping[str, DetectorAnswer]) -> None:
    """Count the development answers that do not fit; they are the same in every epoch.

    Raises:
        DataError: None fits.
    """
    long = left_out(answers)
    if len(long) == len(split.development):
        raise DataError(
            f"{plan.run_id}: none of {len(long)} development answers fits into "
            f"{plan.job.recipe.max_length} tokens; raise recipe.max_length"
        )
    if long:
        plan_says = f"{len(long)} of {len(split.development)} development answers do not fit"
        say(f"{plan.run_id}: {plan_says} and are left out, the first is {long[0]}")


def _judge(
    plan: Plan, split: TrainingSplit, chosen: Chosen, *, last: int, watch: Watch
) -> HealthReport:
    reloaded = _ask_probe(plan, split, last, watch)
    is_last = chosen.score.epoch == last
    probe = reloaded if is_last else _ask_probe(plan, split, chosen.score.epoch, watch)
    write_records(plan.paths.probe, probe.values())
    evidence = Evidence(
        answers=[answer for answer in chosen.answers.values() if answer.problem != "too_long"],
        verdicts=chosen.verdicts,
        n_hallucinated=chosen.score.tp + chosen.score.fn,
        in_memory=list(read_records(plan.paths.in_memory, DetectorAnswer)),
        reloaded=list(reloaded.values()),
        log=list(read_records(plan.paths.log, LogRow)),
        tokens=plan.kind.token_facts(plan.job, split.train),
        layers=plan.kind.norms(plan.job, plan.paths.adapter),
    )
    health = judge_training(plan.run_id, evidence)
    write_bytes(plan.paths.health, dump_record(health))
    return health


def _ask_probe(
    plan: Plan, split: TrainingSplit, epoch: int, watch: Watch
) -> dict[str, DetectorAnswer]:
    """Ask an epoch's weights the probe: in the batches in which the weights in memory were."""
    folder = plan.paths.root / "development" / f"probe-{epoch}"
    return Asked(plan, plan.job.weights(epoch), folder, f"probe {epoch}").answer(split.probe, watch)


def read_answers(
    plan: Plan,
    answers: Mapping[str, DetectorAnswer],
    split: TrainingSplit,
    threshold: float | None,
) -> dict[str, Detection]:
    """Read answers to development responses, by record id.

    One that does not fit is left out; one whose numbers are none is `unparsed`, for a broken
    epoch must lose the choice, not stop it.

    Raises:
        AnswerFaultError: An answer is missing for another reason, which says nothing of the epoch.
    """
    found = {}
    for pair in split.development:
        answer = answers.get(pair.response.record_id)
        if answer is None or answer.problem == "too_long":
            continue
        if answer.problem not in (None, "non_finite"):
            raise AnswerFaultError(
                f"{plan.run_id}: no answer about {answer.record_id} ({answer.message})",
                status=answer.problem,
            )
        if answer.problem is not None:
            found[answer.record_id] = Detection(
                record_id=answer.record_id,
                run_id=plan.run_id,
                verdict="unparsed",
                status="malformed",
                explanation=answer.message,
            )
            continue
        found[answer.record_id] = plan.kind.read(
            answer, pair.response, run_id=plan.run_id, threshold=threshold
        )
    return found


def _trained_epochs(plan: Plan) -> list[int]:
    """Return the epochs whose weights are there; a training that ended early has fewer."""
    epochs = range(1, plan.job.recipe.epochs + 1)
    found = [epoch for epoch in epochs if plan.job.weights(epoch).is_dir()]
    if not found:
        raise MissingInputError(f"{plan.run_id}: its training left no weights in {plan.paths.root}")
    return found


def _epoch_folder(plan: Plan, epoch: int) -> Path:
    return plan.paths.root / "development" / f"epoch-{epoch}"


def _keep(plan: Plan, epoch: int) -> None:
    """Copy the chosen weights to where they are looked for, all of them or none."""
    with new_folder(plan.paths.adapter) as partial:
        shutil.copytree(plan.job.weights(epoch), partial, dirs_exist_ok=True)
