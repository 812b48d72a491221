"""From a configuration to trained detectors and their verdicts, with a scripted one."""

import json

import pytest

from ragmend.errors import ConfigError
from ragmend.io import read_record, read_records
from ragmend.records import Detection
from ragmend.trained import EpochScore, HealthReport

ONE = ("--model", "big", "--seed", "2")


def health_of(experiment, run_id="big/seed-2"):
    return read_record(experiment.training(run_id) / "health.json", HealthReport)


def test_all_detectors_and_seeds_are_trained_when_none_is_named(scripted, experiment, command):
    done = command("detect", "train", *experiment.where)
    assert done.returncode == 0, done.stderr
    assert scripted.fits == ["small/seed-1", "small/seed-2", "big/seed-1", "big/seed-2"]
    assert {health_of(experiment, run).verdict for run in scripted.fits} == {"usable"}


def test_a_training_leaves_its_weights_scores_health_and_card(trained):
    folder = trained.training()
    assert (folder / "adapter/adapter_model.safetensors").read_text() == "big/seed-2 1"
    scores = list(read_records(folder / "epochs.jsonl", EpochScore))
    assert [(s.epoch, s.level, s.chosen) for s in scores] == [
        (1, "response", True), (1, "span", True), (2, "response", False), (2, "span", False),
    ]  # fmt: skip
    card = (folder / "adapter/README.md").read_text()
    assert "Health: **usable**" in card
    assert "not evaluated on the test split" in card
    assert "seed 2" in card
    assert "Does the answer say anything that the source does not support?" in card
    assert "padding, on the left, is '<pad>'" in card
    assert not (folder / "checkpoints").exists()
    assert not (folder / "run.lock").exists()


def test_the_epoch_with_the_best_f1_is_kept_and_the_earlier_of_equals(
    scripted, experiment, command
):
    scripted.script = scripted.script._replace(wrong_in_epoch=(1,))
    assert command("detect", "train", *experiment.where, *ONE).returncode == 0
    weights = experiment.training() / "adapter/adapter_model.safetensors"
    assert weights.read_text() == "big/seed-2 2"


def test_no_development_source_is_in_a_training_answer(trained):
    start = json.loads((trained.training() / "training.json").read_text())
    assert (start["n_train"], start["n_development"]) == (32, 16)
    detections = list(read_records(trained.training() / "development/detections.jsonl", Detection))
    assert len({d.record_id for d in detections}) == 16


def test_training_twice_does_nothing_and_says_so(trained, scripted, command):
    done = command("detect", "train", *trained.where, *ONE)
    assert done.returncode == 0
    assert "trained already" in done.stderr
    assert scripted.fits == ["big/seed-2"]


def test_a_changed_recipe_is_refused_by_name_until_it_is_trained_again(trained, scripted, command):
    words = ("detect", "train", *trained.where, *ONE, "--set", "training.recipe.learning_rate=1e-4")
    refused = command(*words)
    assert refused.returncode == 1
    assert "learning_rate" in refused.stderr
    assert "--redo" in refused.stderr
    assert command(*words, "--redo").returncode == 0
    assert scripted.fits == ["big/seed-2"] * 2


def test_a_training_that_was_begun_goes_on_only_as_the_same(scripted, experiment, command):
    scripted.script = scripted.script._replace(stop_in_epoch=2)
    stopped = command("detect", "train", *experiment.where, *ONE)
    assert stopped.returncode == 75
    assert "saved at epoch 2" in stopped.stderr
    scripted.script = scripted.script._replace(stop_in_epoch=None)
    refused = command(
        "detect", "train", *experiment.where, *ONE, "--set", "training.recipe.epochs=3"
    )
    assert refused.returncode == 1
    assert "was begun with other recipe" in refused.stderr
    assert command("detect", "train", *experiment.where, *ONE).returncode == 0


def test_before_the_first_step_all_may_change_and_what_fits_into_memory_always(
    scripted, experiment, command
):
    train = ("detect", "train", *experiment.where, *ONE)
    scripted.script = scripted.script._replace(stop_in_epoch=1)
    assert command(*train).returncode == 75
    scripted.script = scripted.script._replace(stop_in_epoch=2)
    other = ("--set", "training.recipe.max_length=1024")
    assert command(*train, *other).returncode == 75
    assert command(*train).returncode == 1
    scripted.script = scripted.script._replace(stop_in_epoch=None)
    done = command(*train, *other, "--set", "training.recipe.micro_batch_size=2")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("words", "telling"),
    [
        (("--model", "none"), "no such detector, there are: small, big"),
        (("--model", "big", "--seed", "7"), "training.seeds has 1, 2"),
        (("--redo",), "give --model and --seed"),
        (("--set", "training.seeds=[2, 2]"), "a training repeats"),
        (("--set", "training.development.sources=12"), "cannot draw 12 sources"),
        (("--set", "detector.kind=lexical", "--set", "population.run="), "only 'trained'"),
        (("--set", "population.run=big/seed-9"), "is no training"),
        (("--set", "training.recipe.batch_size=6"), "no multiple of micro_batch_size"),
    ],
)
def test_what_cannot_be_trained_is_refused_and_nothing_is_written(
    scripted, experiment, command, words, telling
):
    done = command("detect", "train", *experiment.where, *words)
    assert done.returncode in (1, 2)
    assert telling in done.stderr
    assert not experiment.out.exists()


def test_a_training_that_cannot_begin_leaves_no_folder_and_loses_nothing(
    scripted, experiment, command, monkeypatch
):
    def refuse(*_):
        raise ConfigError("no such base")

    train = ("detect", "train", *experiment.where, *ONE)
    monkeypatch.setattr(scripted, "measure", refuse)
    assert "no such base" in command(*train).stderr
    assert not experiment.out.exists()
    monkeypatch.undo()


def test_training_again_without_a_base_keeps_what_was_trained(
    trained, scripted, command, monkeypatch
):
    def refuse(*_):
        raise ConfigError("no such base")

    monkeypatch.setattr(scripted, "memory", refuse)
    refused = command("detect", "train", *trained.where, *ONE, "--redo")
    assert "no such base" in refused.stderr
    assert health_of(trained).verdict == "usable"


def test_a_train_split_without_annotation_is_refused(scripted, experiment, command):
    path = experiment.config.parent / "data/train_response.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows[3]["labels"] = None
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = command("detect", "train", *experiment.where, *ONE)
    assert done.returncode == 1
    assert "1 of 48 responses of the train split have no annotation" in done.stderr
    for row in rows:
        row["labels"] = []
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = command("detect", "train", *experiment.where, *ONE)
    assert "0 of 32 training responses have a gold span" in done.stderr


FAULTS = [
    ({"ended": False}, "failed", "100 % are cut at their limit"),
    ({"ended": False}, "failed", "100 % of 16 answers never end"),
    ({"empty": True}, "failed", "100 % are empty"),
    ({"forgets_on_disk": True}, "failed", "8 of 8 probe answers differ after"),
    ({"pad_is_end": True}, "failed", "the padding token is the end token ('</s>')"),
    ({"delta": 0.0}, "failed", "the adapter adds nothing"),
    ({"losses": (2.0, None, 1.0)}, "failed", "the loss was no finite number in 2 steps, first 2"),
]


@pytest.mark.parametrize(("change", "verdict", "reason"), FAULTS, ids=str)
def test_a_faulty_training_keeps_its_adapter_and_says_why_it_failed(
    scripted, experiment, command, change, verdict, reason
):
    scripted.script = scripted.script._replace(**change)
    done = command("detect", "train", *experiment.where, *ONE)
    assert done.returncode == 0, done.stderr
    health = health_of(experiment)
    assert health.verdict == verdict
    assert any(reason in found for found in health.reasons), health.reasons
    assert reason in done.stderr
    folder = experiment.training()
    assert (folder / "adapter/adapter_model.safetensors").exists()
    assert (folder / "epochs/epoch-1").is_dir()  # to look at
    assert f"Health: **{verdict}**" in (folder / "adapter/README.md").read_text()
    diagnosed = command("detect", "diagnose", experiment.out, *ONE)
    assert reason in diagnosed.stdout


def test_a_detector_that_is_not_healthy_may_not_define_a_population(scripted, experiment, command):
    scripted.script = scripted.script._replace(pad_is_end=True)
    assert command("detect", "train", *experiment.where, *ONE).returncode == 0
    assert command("detect", "predict", *experiment.where, *ONE).returncode == 0
    done = command("run", *experiment.where, "--only", "select")
    assert done.returncode == 1
    assert "big/seed-2 is failed and may not define a population" in done.stderr
    assert not (experiment.out / "02-population/population.jsonl").exists()


def test_status_shows_each_training_and_what_helps(trained, command):
    lines = command("status", trained.out).stdout
    assert "big/seed-2: complete, usable, not predicted" in lines
    assert "small/seed-1: missing (ragmend detect train … --model small --seed 1)" in lines


def test_the_probe_can_be_asked_again(trained, scripted, command):
    scripted.script = scripted.script._replace(ended=False)
    done = command("detect", "diagnose", trained.out, *ONE, "--probe")
    assert "asked again" in done.stdout
    assert "8 of 8 probe answers differ" in done.stdout


def test_two_trainings_of_one_run_do_not_wait_for_each_other(scripted, experiment, command):
    assert (
        command("detect", "train", *experiment.where, "--model", "small", "--seed", "1").returncode
        == 0
    )
    lock = experiment.training("small/seed-1") / "run.lock"
    lock.write_text("")
    assert command("detect", "train", *experiment.where, *ONE).returncode == 0
    refused = command("detect", "train", *experiment.where, "--model", "small", "--seed", "1")
    assert refused.returncode == 1
    assert "run.lock" in refused.stderr
    cleared = command("unlock", experiment.out)
    assert "00-training/small/seed-1/run.lock" in cleared.stdout


def test_the_whole_experiment_runs_on_what_a_trained_detector_flags(trained, command):
    assert command("detect", "predict", *trained.where, *ONE).returncode == 0
    done = command("run", *trained.where)
    assert done.returncode == 0, done.stderr
    assert (trained.out / "report.html").exists()


def test_development_answers_that_do_not_fit_are_left_out_of_every_epoch_and_counted(
    trained, scripted, command
):
    ids = [row["record_id"] for row in rows_of(trained.training() / "development/detections.jsonl")]
    scripted.script = scripted.script._replace(too_long=frozenset(ids[:3]))
    done = command("detect", "train", *trained.where, *ONE, "--redo")
    assert done.returncode == 0, done.stderr
    assert f"3 of 16 development answers do not fit and are left out, the first is {ids[0]}" in (
        done.stderr
    )
    scores = rows_of(trained.training() / "epochs.jsonl")
    assert {row["n_responses"] for row in scores} == {13}
    assert health_of(trained).verdict == "usable"
    scripted.script = scripted.script._replace(too_long=frozenset(ids))
    done = command("detect", "train", *trained.where, *ONE, "--redo")
    assert done.returncode == 1
    assert "none of 16 development answers fits into 2048 tokens" in done.stderr


def rows_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_what_is_refused_or_skipped_leaves_the_configuration_of_the_run_as_it_is(trained, command):
    assert command("detect", "predict", *trained.where, *ONE).returncode == 0
    before = (trained.out / "config.toml").read_bytes()
    rate = ("--set", "training.recipe.learning_rate=1e-4")
    assert command("detect", "train", *trained.where, *ONE, *rate).returncode == 1
    limit = ("--set", "data.limit=12")
    assert command("detect", "predict", *trained.where, *ONE, *limit).returncode == 1
    other = ("--set", "verifier.threshold=0.9")
    assert command("detect", "predict", *trained.where, *ONE, *other).returncode == 0  # skipped
    assert (trained.out / "config.toml").read_bytes() == before


def test_training_does_not_change_the_protocol_of_a_run_that_is_locked(trained, command):
    assert command("detect", "predict", *trained.where, *ONE).returncode == 0
    assert command("run", *trained.where, "--only", "select").returncode == 0
    other = ("--model", "small", "--seed", "1", "--set", "verifier.threshold=0.9")
    refused = command("detect", "train", *trained.where, *other)
    assert refused.returncode == 1
    assert "the protocol is locked" in refused.stderr


def test_a_redo_that_was_killed_never_passes_old_weights_off_as_new(
    scripted, experiment, command, monkeypatch, killed, fail
):
    scripted.script = scripted.script._replace(pad_is_end=True)  # a failed one keeps its epochs
    assert command("detect", "train", *experiment.where, *ONE).returncode == 0
    words = (
        "detect",
        "train",
        *experiment.where,
        *ONE,
        "--set",
        "training.recipe.learning_rate=1e-4",
    )
    import shutil

    monkeypatch.setattr(shutil, "rmtree", fail)
    with pytest.raises(killed):
        command(*words, "--redo")
    monkeypatch.undo()
    (experiment.training() / "training.json").unlink(missing_ok=True)
    from ragmend.cli.training import plan as plans
    from ragmend.cli.training import runner

    monkeypatch.setattr(plans, "kind_of", lambda name: scripted)
    monkeypatch.setattr(runner, "require_training_libraries", lambda: None)
    (experiment.training() / "run.lock").unlink(missing_ok=True)
    refused = command(*words)
    assert refused.returncode == 1
    assert "nobody knows what was trained there; --redo" in refused.stderr


def test_a_signal_between_two_trainings_ends_before_the_second(
    scripted, experiment, command, monkeypatch
):
    import os
    import signal

    fit = type(scripted).fit

    def fit_and_ask(kind, *words):
        fit(kind, *words)
        monkeypatch.setattr(kind, "batches", lambda job, pairs: iter([pairs]))

    from ragmend.cli.training import runner

    tidy = runner._tidy

    def tidy_and_ask(plan, health):
        tidy(plan, health)
        os.kill(os.getpid(), signal.SIGUSR1)

    monkeypatch.setattr(type(scripted), "fit", fit_and_ask)
    monkeypatch.setattr(runner, "_tidy", tidy_and_ask)
    done = command("detect", "train", *experiment.where)
    assert done.returncode == 75
    assert "SIGUSR1: stopped before small/seed-2" in done.stderr
    assert scripted.fits == ["small/seed-1"]


def test_the_probe_is_asked_anew_each_time(trained, scripted, command):
    diagnose = ("detect", "diagnose", trained.out, *ONE, "--probe")
    assert "0 answers differ" in command(*diagnose).stdout
    scripted.script = scripted.script._replace(ended=False)
    assert "8 of 8 probe answers differ" in command(*diagnose).stdout


def test_what_is_damaged_in_one_training_hides_nothing_of_the_others(scripted, experiment, command):
    assert command("detect", "train", *experiment.where).returncode == 0
    folder = experiment.training("small/seed-2")
    (folder / "manifest.json").write_text('{"sch')
    (folder / "log.jsonl").write_text('{"step": 1')
    status = command("status", experiment.out)
    assert status.returncode == 0
    assert "small/seed-2: damaged: cannot be read" in status.stdout
    assert "big/seed-2: complete, usable" in status.stdout
    diagnosed = command("detect", "diagnose", experiment.out)
    assert diagnosed.returncode == 0
    assert "damaged   " in diagnosed.stdout
    assert diagnosed.stdout.count("health    usable") == 4


def test_a_run_leaves_the_half_written_files_of_detectors_at_work(trained, command):
    at_work = trained.detections("small/seed-1")
    at_work.mkdir(parents=True)
    (at_work / "scores.jsonl.partial").write_text("{")
    (at_work / "run.lock").write_text("")
    left = trained.detections("small/seed-2")
    left.mkdir(parents=True)
    (left / "scores.jsonl.partial").write_text("{")
    assert command("detect", "predict", *trained.where, *ONE).returncode == 0
    assert command("run", *trained.where, "--only", "select").returncode == 0
    assert (at_work / "scores.jsonl.partial").exists()
    assert not (left / "scores.jsonl.partial").exists()


def test_many_trainings_begin_at_once_in_a_new_folder(experiment):
    from concurrent.futures import ThreadPoolExecutor

    from ragmend.cli.engine import check_folder, write_config
    from ragmend.cli.experiment import open_experiment

    context = open_experiment(str(experiment.config), experiment.out).context

    def begin(_):
        check_folder(experiment.out)
        write_config(context)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(begin, range(64)))
    assert [path.name for path in experiment.out.iterdir()] == ["config.toml"]


@pytest.mark.parametrize(
    ("problem", "code", "said"),
    [("non_finite", 0, "had numbers that are none"), ("timeout", 1, "no answer about 9")],
)
def test_only_numbers_that_are_none_count_against_an_epoch(
    trained, scripted, command, problem, code, said
):
    ids = [row["record_id"] for row in rows_of(trained.training() / "development/detections.jsonl")]
    scripted.script = scripted.script._replace(too_long=frozenset(ids[:1]), problem=problem)
    done = command("detect", "train", *trained.where, *ONE, "--redo")
    assert done.returncode == code
    assert said in done.stderr
