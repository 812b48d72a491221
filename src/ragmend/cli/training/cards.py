"""Writes a training's model card: when it ends, and again when it was evaluated."""

from ragmend.cli.context import Context
from ragmend.cli.training.ledger import read_ledger
from ragmend.cli.training.plan import Plan
from ragmend.detector.training.card import CardFacts, render_card
from ragmend.io import read_record, read_records, sha256_of_file, write_bytes
from ragmend.manifest import read_manifest
from ragmend.paths import manifest_path
from ragmend.records import DetectorScore
from ragmend.trained import EpochScore, HealthReport, TrainingStart


def write_card(context: Context, plan: Plan) -> None:
    """Write the card from the records of a training that has ended, and of its evaluation."""
    begun = {entry.number for entry in read_ledger(plan.paths.ledger)}
    facts = CardFacts(
        job=plan.job,
        start=read_record(plan.paths.begun, TrainingStart),
        scores=list(read_records(plan.paths.epochs, EpochScore)),
        health=read_record(plan.paths.health, HealthReport),
        commit=context.environment.git_commit,
        test=_own_test_scores(context, plan),
        n_evaluations=len(begun),
    )
    write_bytes(plan.paths.card, render_card(facts).encode())


def _own_test_scores(context: Context, plan: Plan) -> list[DetectorScore]:
    """Return the scores on the test split of these very weights; none where there are none."""
    manifest = read_manifest(manifest_path(context.paths.detections(plan.run_id)))
    trained = plan.paths.manifest
    if manifest is None or manifest.settings.get("data.split") != "test" or not trained.is_file():
        return []
    if manifest.inputs.get(context.paths.relative(trained)) != sha256_of_file(trained):
        return []  # an earlier training of this name was evaluated
    return list(read_records(context.paths.detector_run_scores(plan.run_id), DetectorScore))
