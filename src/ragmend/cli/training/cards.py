"""Writes a training's model card: when it ends, and again when it was evaluated."""

from ragmend.cli.context import Context
from ragmend.cli.training.ledger import read_ledger
from ragmend.cli.training.plan import Plan
from ragmend.detector.training.card import CardFacts, render_card
from ragmend.io import read_record, read_records, write_bytes
from ragmend.records import DetectorScore
from ragmend.trained import EpochScore, HealthReport, TrainingStart


def write_card(context: Context, plan: Plan) -> None:
    """Write the card from the records of a training that has ended, and of its evaluation."""
    test = context.paths.detector_run_scores(plan.run_id)
    ended = {entry.number for entry in read_ledger(plan.paths.ledger) if entry.event == "ended"}
    facts = CardFacts(
        job=plan.job,
        start=read_record(plan.paths.begun, TrainingStart),
        scores=list(read_records(plan.paths.epochs, EpochScore)),
        health=read_record(plan.paths.health, HealthReport),
        commit=context.environment.git_commit,
        test=list(read_records(test, DetectorScore)) if ended and test.exists() else (),
        n_evaluations=len(ended),
    )
    write_bytes(plan.paths.card, render_card(facts).encode())
