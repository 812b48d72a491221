"""A trained detector predicts: once on the test split, resumable, and only what stands."""

import pytest

from ragmend.io import read_records
from ragmend.records import Detection, DetectorScore
from ragmend.trained import LedgerEntry

ONE = ("--model", "big", "--seed", "2")


def test_predicting_without_training_names_the_command_that_trains(scripted, experiment, command):
    for words in (("detect", "predict", *experiment.where, *ONE), ("run", *experiment.where)):
        done = command(*words)
        assert done.returncode == 1
        assert "ragmend detect train CONFIG --model big --seed 2" in done.stderr


def test_a_trained_detector_has_one_test_evaluation(trained, scripted, command):
    predict = ("detect", "predict", *trained.where, *ONE)
    assert command(*predict).returncode == 0
    scores = list(read_records(trained.detections() / "scores.jsonl", DetectorScore))
    assert next(s for s in scores if s.group == "pooled").tp == 28
    card = (trained.training() / "adapter/README.md").read_text()
    assert "| test | response |" in card
    assert "evaluated on the test split once" in card
    n_asked = len(scripted.asked)
    assert "complete, skipped" in command(*predict).stderr
    assert len(scripted.asked) == n_asked

    changed = (*predict, "--set", "data.limit=12")
    refused = command(*changed)
    assert refused.returncode == 1
    redone = command("run", *trained.where, "--redo", "detect")
    assert redone.returncode == 1
    assert "--again" in redone.stderr
    again = command(*predict, "--again", "the first was of other answers")
    assert again.returncode == 0, again.stderr
    ledger = list(read_records(trained.training() / "ledger.jsonl", LedgerEntry))
    assert [(entry.event, entry.number) for entry in ledger] == [
        ("begun", 1), ("ended", 1), ("begun", 2), ("ended", 2),
    ]  # fmt: skip
    assert ledger[-1].reason == "the first was of other answers"
    card = (trained.training() / "adapter/README.md").read_text()
    assert "evaluated on the test split 2 times" in card


def test_the_ledger_outlives_a_training_that_is_done_again(trained, command):
    assert command("detect", "predict", *trained.where, *ONE).returncode == 0
    assert command("detect", "train", *trained.where, *ONE, "--redo").returncode == 0
    assert len(list(read_records(trained.training() / "ledger.jsonl", LedgerEntry))) == 2
    done = command("detect", "predict", *trained.where, *ONE, "--set", "data.limit=20")
    assert done.returncode == 1


def test_an_answer_that_does_not_fit_is_a_fault_of_its_record(trained, scripted, command):
    scripted.script = scripted.script._replace(too_long=frozenset({"1001", "1005"}))
    predict = ("detect", "predict", *trained.where, *ONE)
    done = command(*predict)
    assert done.returncode == 1
    assert "2 faulty answers (records 1001, 1005)" in done.stderr
    assert not (trained.detections() / "detections.jsonl").exists()
    done = command(*predict, "--accept-faults", "two are long")
    assert done.returncode == 0, done.stderr
    found = list(read_records(trained.detections() / "detections.jsonl", Detection))
    assert len(found) == 46
    ledger = list(read_records(trained.training() / "ledger.jsonl", LedgerEntry))
    assert [entry.event for entry in ledger] == ["begun", "ended"]


def test_an_interrupted_evaluation_asks_only_what_is_missing(
    trained, scripted, command, monkeypatch
):
    from ragmend.cli.training.stopping import SignalWatch

    before = len(scripted.asked)
    monkeypatch.setattr(
        SignalWatch, "should_stop", lambda watch: len(scripted.asked) - before >= 20
    )
    predict = ("detect", "predict", *trained.where, *ONE)
    stopped = command(*predict)
    assert stopped.returncode == 75
    assert "stopped after 20 of 48 answers" in stopped.stderr
    monkeypatch.undo()
    from ragmend.cli.training import plan as plans

    monkeypatch.setattr(plans, "kind_of", lambda name: scripted)
    assert command(*predict).returncode == 0
    asked = scripted.asked[before:]
    assert len(asked) == len(set(asked)) == 48


def test_a_damaged_adapter_is_seen_before_it_predicts(trained, command):
    (trained.training() / "adapter/adapter_model.safetensors").write_text("big/seed-2 2")
    done = command("detect", "predict", *trained.where, *ONE)
    assert done.returncode == 1
    assert "is damaged: 00-training/big/seed-2/adapter/adapter_model.safetensors" in done.stderr
    assert "damaged" in command("detect", "diagnose", trained.out, *ONE).stdout


def test_a_kill_before_the_manifest_of_an_evaluation_leaves_one_to_go_on_with(
    trained, command, monkeypatch, killed, fail
):
    from ragmend.cli import engine

    predict = ("detect", "predict", *trained.where, *ONE)
    write = engine.write_manifest
    monkeypatch.setattr(engine, "write_manifest", fail)
    with pytest.raises(killed):
        command(*predict)
    monkeypatch.setattr(engine, "write_manifest", write)
    done = command(*predict)
    assert done.returncode == 0, done.stderr
    assert ledger_of(trained) == [("begun", 1, None), ("ended", 1, None)]


def test_a_kill_behind_the_manifest_leaves_the_ledger_to_be_closed_later(
    trained, command, monkeypatch, killed, fail
):
    from ragmend.cli.training import predicting

    predict = ("detect", "predict", *trained.where, *ONE)
    end = predicting.end_evaluation
    monkeypatch.setattr(predicting, "end_evaluation", fail)
    with pytest.raises(killed):
        command(*predict)
    monkeypatch.setattr(predicting, "end_evaluation", end)
    assert "complete, skipped" in command(*predict).stderr
    assert ledger_of(trained) == [("begun", 1, None), ("ended", 1, None)]
    assert "| test | response |" in (trained.training() / "adapter/README.md").read_text()


def test_an_evaluation_once_more_keeps_the_first_verdicts_until_the_new_ones_are_there(
    trained, scripted, command, monkeypatch, killed, fail
):
    predict = ("detect", "predict", *trained.where, *ONE)
    assert command(*predict).returncode == 0
    first = (trained.detections() / "detections.jsonl").read_bytes()
    monkeypatch.setattr(type(scripted), "open", fail)
    with pytest.raises(killed):
        command(*predict, "--again", "a second look")
    assert (trained.detections() / "detections.jsonl").read_bytes() == first
    assert "complete, skipped" in command(*predict).stderr
    assert [entry[:2] for entry in ledger_of(trained)] == [("begun", 1), ("ended", 1), ("begun", 2)]
    monkeypatch.undo()


def test_an_evaluation_once_more_goes_on_where_it_was_with_its_own_reason_only(
    trained, scripted, command, monkeypatch
):
    from ragmend.cli.training.stopping import SignalWatch

    predict = ("detect", "predict", *trained.where, *ONE)
    assert command(*predict).returncode == 0
    before = len(scripted.asked)
    should_stop = SignalWatch.should_stop
    SignalWatch.should_stop = lambda watch: len(scripted.asked) - before >= 20
    try:
        assert command(*predict, "--again", "a second look").returncode == 75
    finally:
        SignalWatch.should_stop = should_stop
    refused = command(*predict, "--again", "a third look")
    assert refused.returncode == 1
    assert "because 'a second look'" in refused.stderr
    assert command(*predict, "--again", "a second look").returncode == 0
    assert len(scripted.asked) - before == 48
    assert [entry[1:] for entry in ledger_of(trained)][2:] == [(2, "a second look")] * 2


def test_other_weights_are_another_evaluation_though_the_first_never_ended(
    trained, scripted, command
):
    scripted.script = scripted.script._replace(too_long=frozenset({"1001"}))
    predict = ("detect", "predict", *trained.where, *ONE)
    assert command(*predict).returncode == 1
    scripted.script = scripted.script._replace(too_long=frozenset(), wrong_in_epoch=(1,))
    assert command("detect", "train", *trained.where, *ONE, "--redo").returncode == 0
    refused = command(*predict)
    assert refused.returncode == 1
    assert "was evaluated on the test split already" in refused.stderr


def test_a_card_shows_no_scores_of_other_weights(trained, scripted, command):
    assert command("detect", "predict", *trained.where, *ONE).returncode == 0
    card = trained.training() / "adapter/README.md"
    assert "| test | response | | 100.0" in card.read_text()
    scripted.script = scripted.script._replace(wrong_in_epoch=(1, 2))
    assert command("detect", "train", *trained.where, *ONE, "--redo").returncode == 0
    assert "| test |" not in card.read_text()
    assert "evaluated on the test split once, not this one" in card.read_text()


def test_a_detector_whose_answers_on_the_split_cannot_be_read_defines_no_population(
    trained, scripted, command
):
    scripted.script = scripted.script._replace(ended=False)
    assert command("detect", "predict", *trained.where, *ONE).returncode == 0
    refused = command("run", *trained.where, "--only", "select")
    assert refused.returncode == 1
    assert "gave no verdict on 48 of 48 responses, more than 5 %" in refused.stderr
    printed = command("detect", "score", trained.out).stdout
    assert "big/seed-2 is not usable: 100 % of its answers on the test split" in printed


def ledger_of(experiment):
    entries = read_records(experiment.training() / "ledger.jsonl", LedgerEntry)
    return [(entry.event, entry.number, entry.reason) for entry in entries]
