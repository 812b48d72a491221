"""The verdicts of one trained detector on the split: a `detect` stage of its own."""

from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from pathlib import Path

from pydantic import JsonValue

from ragmend.cli.context import Context, Outcome, Stage, say
from ragmend.cli.data import data_inputs, data_settings, read_data
from ragmend.cli.training.answering import Asked
from ragmend.cli.training.cards import write_card
from ragmend.cli.training.ledger import (
    Evaluation,
    begin_evaluation,
    end_evaluation,
    refuse_evaluation,
)
from ragmend.cli.training.plan import Plan, RunName, plan_training, training_settings
from ragmend.cli.training.runner import inspect_training
from ragmend.cli.training.stopping import SignalWatch
from ragmend.config import Config
from ragmend.datasets.ragtruth import Dataset
from ragmend.detector.scores import score_detections
from ragmend.detector.training.choosing import chosen_epoch
from ragmend.detector.training.job import Pair, Watch
from ragmend.errors import FaultError, MissingInputError, RunStateError
from ragmend.io import read_records, sha256_of, write_records
from ragmend.manifest import hash_files, read_manifest
from ragmend.paths import manifest_path
from ragmend.records import Detection, Fault
from ragmend.run_lock import FileLock
from ragmend.trained import DetectorAnswer, EpochScore

NAMED = 5  # records that a line names


def predict_stage(
    run: RunName,
    *,
    again: str | None = None,
    server: str | None = None,
    watch: SignalWatch | None = None,
) -> Stage:
    """Return the stage that writes one trained detector's verdicts.

    Args:
        run: Which training.
        again: Why it is evaluated on the test split once more.
        server: The URL of a server that has it; None: it is loaded in this process.
        watch: Who is asked whether to end, inside its `with` block; None: one of its own.
    """
    predict = f"ragmend detect predict … --model {run.model} --seed {run.seed}"
    return Stage(
        name="detect",
        manifest=lambda context: manifest_path(context.paths.detections(run.run_id)),
        inputs=lambda context: _inputs(context, run),
        settings=lambda config: _settings(config, run),
        execute=lambda context: _execute(context, run, again, server, watch),
        check=lambda context: _check(context, run, again),
        finish=lambda context: _finish(context, run),
        again=f'{predict} --again "reason"',
        accept=f'{predict} --accept-faults "reason"',
    )


def require_trained(context: Context, run: RunName) -> None:
    """Find out whether a training is complete, and of this configuration.

    Raises:
        MissingInputError: It is not complete.
        RunStateError: It was trained otherwise.
    """
    state = inspect_training(context, run)
    if state.kind == "absent":
        raise MissingInputError(
            f"{run.run_id} is not trained in {context.paths.root}: `ragmend detect train CONFIG "
            f"--model {run.model} --seed {run.seed} --out {context.paths.root}` does it"
        )
    if state.kind != "complete":
        raise RunStateError(f"training {run.run_id} is {state.kind}: {'; '.join(state.reasons)}")


def _check(context: Context, run: RunName, again: str | None) -> None:
    """Refuse what is not trained, and an evaluation once more without a reason."""
    require_trained(context, run)
    paths = context.paths.training(run.run_id)
    is_complete = manifest_path(context.paths.detections(run.run_id)).is_file()
    if again is not None or not is_complete:
        refuse_evaluation(paths.ledger, _evaluation(context, run, again))


def _evaluation(context: Context, run: RunName, again: str | None) -> Evaluation:
    digest = sha256_of(
        {
            "settings": _settings(context.config, run),
            "inputs": hash_files(_inputs(context, run)),  # weights among them, by their manifest
        }
    )
    return Evaluation(run.run_id, context.config.data.split, digest, again)


def _finish(context: Context, run: RunName) -> None:
    """Close the ledger's entry and write the card anew, once the verdicts are complete."""
    plan = plan_training(context, run)
    manifest = read_manifest(manifest_path(context.paths.detections(run.run_id)))
    if manifest is not None:
        number = manifest.counts.get("evaluation")
        end_evaluation(plan.paths.ledger, number if isinstance(number, int) else 0)
        write_card(context, plan)


def _execute(
    context: Context,
    run: RunName,
    again: str | None,
    server: str | None,
    watch: SignalWatch | None,
) -> Outcome:
    plan = plan_training(context, run)
    output = context.paths.detections(run.run_id)
    lock = FileLock(output.with_name("run.lock"), unlock=context.paths.root)
    with SignalWatch() if watch is None else nullcontext(watch) as watching, lock:
        number = begin_evaluation(plan.paths.ledger, _evaluation(context, run, again))
        outcome = _predict(context, plan, read_data(context.config), watching, server)
    return outcome._replace(counts=outcome.counts | {"evaluation": number})


def _predict(
    context: Context, plan: Plan, data: Dataset, watch: Watch, server: str | None
) -> Outcome:
    folder = context.paths.detections(plan.run_id).parent
    if server is None:
        asked = Asked(plan, plan.paths.adapter, folder, "predict")
        return _write(context, plan, data, asked.answer(_pairs(data), watch))
    from ragmend.cli.training.serving import answer_served

    client = context.config.client
    served = answer_served(plan, _pairs(data), folder, watch, url=server, client=client)
    return _write(context, plan, data, served.answers)._replace(
        servers={"detector": served.facts}, service={"detector": served.service}
    )


def _write(
    context: Context, plan: Plan, data: Dataset, answers: Mapping[str, DetectorAnswer]
) -> Outcome:
    best = chosen_epoch(list(read_records(plan.paths.epochs, EpochScore)))
    detections = [
        plan.kind.read(
            answers[response.record_id], response, run_id=plan.run_id, threshold=best.threshold
        )
        for response in data.responses
        if answers[response.record_id].problem is None
    ]
    if not detections and context.accept_faults is not None:
        raise FaultError(f"{plan.run_id}: none of {len(answers)} responses got an answer")
    if not detections:  # the faults are listed, and that ends it
        return Outcome((), {}, n_units=len(answers), faults=tuple(_faults(answers)))
    output = context.paths.detections(plan.run_id)
    scores = context.paths.detector_run_scores(plan.run_id)
    _name_contradictions(plan, detections)
    write_records(output, detections)
    write_records(scores, score_detections(data.responses, data.sources, detections))
    return Outcome(
        (output, scores),
        _counts(detections, answers),
        {"detector": plan.run_id},
        seed=plan.job.seed,
        n_units=len(answers),
        faults=tuple(_faults(answers)),
    )


def _name_contradictions(plan: Plan, detections: list[Detection]) -> None:
    """Say which answers' boolean, which is the verdict, and spans say different things."""
    ids = [detection.record_id for detection in detections if detection.contradicts]
    if ids:
        named = ", ".join(ids[:NAMED]) + (", …" if len(ids) > NAMED else "")
        say(f"{plan.run_id}: {len(ids)} answers contradict themselves (records {named})")


def _counts(
    detections: list[Detection], answers: Mapping[str, DetectorAnswer]
) -> dict[str, JsonValue]:
    verdicts = [detection.verdict for detection in detections]
    found: dict[str, JsonValue] = {"responses": len(answers)}
    found |= {verdict: verdicts.count(verdict) for verdict in sorted(set(verdicts))}
    return found | {
        "contradicting": sum(detection.contradicts for detection in detections),
        "with_unlocated_spans": sum(bool(detection.unlocated) for detection in detections),
        "with_shortened_source": sum(bool(d.left_out_fragments) for d in detections),
    }


def _faults(answers: Mapping[str, DetectorAnswer]) -> Iterator[Fault]:
    for answer in answers.values():
        if answer.problem is not None:
            message = answer.message or answer.problem
            yield Fault(
                stage="detect", record_id=answer.record_id, status=answer.problem, message=message
            )


def _pairs(data: Dataset) -> list[Pair]:
    return [Pair(response, data.sources[response.source_id]) for response in data.responses]


def _inputs(context: Context, run: RunName) -> dict[str, Path]:
    paths = context.paths.training(run.run_id)
    own = (paths.manifest, paths.health, paths.epochs)
    return data_inputs(context.config) | {context.paths.relative(path): path for path in own}


def _settings(config: Config, run: RunName) -> dict[str, JsonValue]:
    training = {f"training.{key}": value for key, value in training_settings(config, run).items()}
    return data_settings(config) | {"run": run.run_id} | training
