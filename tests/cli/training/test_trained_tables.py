"""From scripted trainings to the tables of a run: what their real files say, end to end."""

import pandas as pd
import pytest


@pytest.fixture
def predicted(scripted, experiment, command):
    """Four detectors, trained; one is wrong, one failed; all predict but "small/seed-2"."""
    scripts = {
        ("small", 1): {"wrong_in_epoch": (1, 2)},
        ("small", 2): {},
        ("big", 1): {"ended": False},
        ("big", 2): {"wrong_in_epoch": (2,)},
    }
    plain = scripted.script
    for (model, seed), script in scripts.items():
        scripted.script = plain._replace(**script)
        which = (*experiment.where, "--model", model, "--seed", seed)
        assert command("detect", "train", *which).returncode == 0
        if (model, seed) != ("small", 2):
            done = command("detect", "predict", *which)
            assert done.returncode == 0, done.stderr
    scripted.script = plain
    return experiment


def test_scores_are_printed_and_written_for_other_analyses(predicted, command, tmp_path):
    table, out = tmp_path / "runs.csv", tmp_path / "out"
    done = command("detect", "score", predicted.out, "--runs", table)
    assert done.returncode == 0, done.stderr
    assert "Table 1: detector runs by seed, F1 %" in done.stdout
    assert "* detector run big/seed-1 failed: " in done.stdout
    unscored = "without a score, and counted nowhere: small seed 2 (trained, not predicted)"
    assert f"* {unscored}" in done.stdout
    assert "* without development scores" not in done.stdout
    again = command("analyze", "--runs", table, "--out", out, "--svg-only")
    assert again.returncode == 0, again.stderr
    first = pd.read_csv(out / "tables" / "table1_detectors.csv").set_index("model")
    assert first["n_runs"].to_dict() == {"big": 2, "small": 1}
    assert first["n_usable"].to_dict() == {"big": 1, "small": 1}
    assert first.loc["big", "f1_seed_2"] == 100
    assert f"- {unscored}" in (out / "tables" / "table1_detectors.md").read_text()


def test_a_run_whose_answers_cannot_be_read_has_a_score_of_none_that_can(predicted, command):
    printed = command("detect", "score", predicted.out).stdout
    failures = pd.read_csv(runs_of(predicted, command)).set_index(["model", "seed"])
    assert "F1 % of read answers" in printed
    assert pd.isna(failures.loc[("big", 1), "f1_read"])  # not one could be
    assert failures.loc[("big", 2), "f1_read"] == 100


def runs_of(predicted, command):
    table = predicted.out.parent / "runs_of.csv"
    assert command("detect", "score", predicted.out, "--runs", table).returncode == 0
    return table


def test_a_whole_run_holds_what_its_detectors_are_worth(predicted, command):
    done = command("run", *predicted.where)
    assert done.returncode == 0, done.stderr
    tables = predicted.out / "tables"
    for name in ("table1_detectors", "detector_failures", "detector_development", "table3_arms"):
        assert "detector run big/seed-1 failed: " in (tables / f"{name}.md").read_text(), name
    development = pd.read_csv(tables / "detector_development.csv")
    assert len(development) == 4 * 2
    assert development["chosen"].value_counts().to_dict() == {"yes": 4, "no": 4}
    selection = pd.read_csv(tables / "selection.csv").set_index("quantity")
    assert selection.loc["population_rank", ["value", "of"]].tolist() == [1, 2]
    report = (predicted.out / "report.md").read_text()
    assert "answers flagged by big/seed-2" in report
    assert command("run", *predicted.where).returncode == 0

    late = (*predicted.where, "--model", "small", "--seed", "2")
    assert command("detect", "predict", *late).returncode == 0
    stale = command("run", *predicted.where)
    assert stale.returncode == 1
    assert "stage analyze is stale: new inputs: 00-training/small/seed-2/ledger" in stale.stderr
    assert command("run", *predicted.where, "--redo", "analyze").returncode == 0
    assert pd.read_csv(tables / "table1_detectors.csv")["n_runs"].tolist() == [2, 2]


def test_verdicts_of_a_training_that_was_done_again_are_no_longer_scored(predicted, command):
    which = (*predicted.where, "--model", "small", "--seed", "1")
    assert command("detect", "train", *which, "--redo").returncode == 0
    done = command("detect", "score", predicted.out)
    assert done.returncode == 0, done.stderr
    assert "small seed 1 (its verdicts no longer stand: 00-training/small/seed-1/" in done.stdout
    assert command("detect", "predict", *which, "--again", "trained anew").returncode == 0
    done = command("detect", "score", predicted.out)
    assert "small seed 1 (" not in done.stdout
    told = "small/seed-1 was evaluated on the test split 2 times; again because: trained anew"
    assert f"* detector run {told}" in done.stdout
