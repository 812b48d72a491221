"""What is read of trained detectors: what is known of each run, and what is not scored."""

from fractions import Fraction

import pytest

from ragmend.analysis.inputs.frames import Frames
from ragmend.analysis.inputs.runs import detector_runs
from ragmend.analysis.inputs.trained_runs import run_frame
from ragmend.cli.detector_runs import (
    detector_run_files,
    files_of_frames,
    read_detector_runs,
    remarks_on_runs,
)
from ragmend.cli.detector_tables import format_detector_tables, runs_csv
from ragmend.errors import DataError, RunStateError
from ragmend.io import read_records, write_records
from ragmend.trained import LedgerEntry


def evaluations_told(config, paths):
    remarks = remarks_on_runs(read_detector_runs(config, paths), split="test")
    return [remark for remark in remarks if "evaluated" in remark]


def test_a_score_that_no_decimal_is_stays_exact(config, paths, folder):
    folder.predict("7b/seed-13", {"tp": 1, "fp": 1, "fn": 0, "tn": 1})
    runs = detector_runs(Frames(runs=run_frame(read_detector_runs(config, paths))))
    assert runs[0].f1 == Fraction(200, 3)


def test_a_degraded_run_is_not_usable_and_says_why(config, paths, folder, tables_of):
    folder.train("7b/seed-42", verdict="degraded", reasons=("one", "two"))
    folder.seal_prediction("7b/seed-42")
    remarks = list(remarks_on_runs(read_detector_runs(config, paths), split="test"))
    assert "detector run 7b/seed-42 is degraded: one; two" in remarks
    assert tables_of()["table1_detectors"].frame["n_usable"].tolist() == [3, 4]


def test_answers_without_a_verdict_are_counted_from_the_verdicts(folder, counts, tables_of):
    folder.predict("7b/seed-100", counts("1.3"), ["empty"] * 7 + ["unparsed"])
    failures = tables_of()["detector_failures"].frame.set_index(["model", "seed"])
    shares = failures.loc[("7b", "100"), ["empty_pct", "unparsed_pct"]].tolist()
    assert shares == [87.5, 12.5]
    assert failures.loc[("13b", "13"), ["empty_pct", "unparsed_pct"]].tolist() == [20, 20]


def test_runs_that_answered_for_other_numbers_of_responses_do_not_compare(
    config, paths, folder, counts
):
    folder.predict("7b/seed-100", counts("1.3"), ["clean"] * 4)
    *_, remark = remarks_on_runs(read_detector_runs(config, paths), split="test")
    assert remark.startswith("detector runs gave verdicts on other numbers of responses, so that")
    assert "not compare: 5: 7b/seed-13, 7b/seed-21, 7b/seed-42, 7b/seed-84, 13b/seed" in remark
    assert remark.endswith("; 4: 7b/seed-100")
    folder.predict("7b/seed-100", counts("1.3"))
    folder.seal_prediction("7b/seed-100", data="1")
    *_, remark = remarks_on_runs(read_detector_runs(config, paths), split="test")
    assert remark.startswith("detector runs gave verdicts on other data files")


def test_accepted_faults_are_told_of_the_run_that_has_them(config, paths, folder):
    folder.seal_prediction("7b/seed-100", n_faults=2, accepted_faults="gone")
    *_, remark = remarks_on_runs(read_detector_runs(config, paths), split="test")
    assert remark == (
        "detector run 7b/seed-100 has no verdict on 2 responses, accepted as faults: they are in "
        "none of its scores"
    )


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (
            lambda folder, run: folder.train(run, threshold=0.5),
            "its verdicts no longer stand: 00-training/7b/seed-13/manifest.json, 00-training/",
        ),
        (
            lambda folder, run: write_records(folder.paths.detections(run), []),
            "its verdicts no longer stand: 01-detections/7b/seed-13/detections.jsonl changed",
        ),
        (
            lambda folder, run: folder.paths.detector_run_scores(run).unlink(),
            "its verdicts no longer stand: 01-detections/7b/seed-13/scores.jsonl changed",
        ),
        (
            lambda folder, run: write_records(folder.paths.training(run).epochs, []),
            "its training no longer stands: 00-training/7b/seed-13/epochs.jsonl changed",
        ),
        (
            lambda folder, run: folder.paths.training(run).health.unlink(),
            "its training no longer stands: 00-training/7b/seed-13/health.json changed",
        ),
    ],
)
def test_what_changed_since_is_not_scored_but_named(config, folder, change, why):
    change(folder, "7b/seed-13")
    first, *others = read_detector_runs(config, folder.paths)
    assert first.unscored.startswith(why)
    assert first.scores == ()
    assert {run.unscored for run in others} == {None}
    assert f"7b seed 13 ({why}" in format_detector_tables(config, folder.paths)


def test_runs_of_other_settings_are_not_scored_but_named(config, paths):
    training = config.trainings
    recipe = training.recipe.model_copy(update={"epochs": 9})
    other = config.model_copy(update={"training": training.model_copy(update={"recipe": recipe})})
    assert {run.unscored for run in read_detector_runs(other, paths)} == {
        "its training no longer stands: recipe changed"
    }
    limited = config.model_copy(update={"data": config.data.model_copy(update={"limit": 5})})
    assert {run.unscored for run in read_detector_runs(limited, paths)} == {
        "its verdicts no longer stand: data.limit changed"
    }


def test_a_second_evaluation_is_told_with_its_reason(config, paths, folder):
    folder.write_ledger("13b/seed-42", [None, "the disk was full", "a bug"])
    folder.write_ledger("13b/seed-84", [None, None], split="train")
    (told,) = evaluations_told(config, paths)
    assert told == (
        "detector run 13b/seed-42 was evaluated on the test split 3 times; again because: the "
        "disk was full; a bug"
    )


def test_an_evaluation_that_was_interrupted_and_went_on_is_one(config, paths):
    ledger = paths.training("13b/seed-42").ledger
    begun, ended = read_records(ledger, LedgerEntry)
    write_records(ledger, [begun, begun, ended])
    assert evaluations_told(config, paths) == []


@pytest.mark.parametrize("kind", ["lexical", "predictions"])
def test_another_kind_of_detector_has_no_runs(config, paths, kind):
    other = config.model_copy(
        update={"detector": config.detector.model_copy(update={"kind": kind})}
    )
    assert read_detector_runs(other, paths) == detector_run_files(other, paths) == []
    with pytest.raises(RunStateError, match="none is trained here"):
        runs_csv(other, paths)


def test_files_of_another_run_are_refused(config, paths, folder):
    run, other = "7b/seed-13", "7b/seed-21"
    for path, foreign in (
        (paths.detections(run), paths.detections(other)),
        (paths.detector_run_scores(run), paths.detector_run_scores(other)),
        (paths.training(run).health, paths.training(other).health),
    ):
        own = path.read_bytes()
        path.write_bytes(foreign.read_bytes())
        folder.seal_training(run)
        folder.seal_prediction(run)
        with pytest.raises(DataError, match=r"is of run '7b/seed-21', expected '7b/seed-13'"):
            read_detector_runs(config, paths)
        path.write_bytes(own)


def test_a_manifest_that_is_none_is_named(config, paths):
    paths.training("7b/seed-13").manifest.write_bytes(b"{}")
    with pytest.raises(DataError, match=r"7b/seed-13/manifest.json.*redo the stage"):
        read_detector_runs(config, paths)


def test_the_files_behind_a_frame_are_those_of_complete_runs(config, paths, folder):
    folder.remove("7b/seed-13", training=True)
    folder.remove("7b/seed-21")
    files = files_of_frames(config, paths)
    assert [len(files[name]) for name in ("runs", "detectors", "development")] == [25, 8, 18]
    every = detector_run_files(config, paths)
    assert {path for group in files.values() for path in group} < set(every)
    assert len(every) == 8 * 4 + 2 + 8
    assert all(path.is_file() for path in every)
