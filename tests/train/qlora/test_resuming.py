"""A training that is killed goes on as if nothing had happened."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from ragmend.detector.qlora.kind import GENERATIVE
from ragmend.errors import PreemptedError
from ragmend.io import read_records
from ragmend.sections.training import LoraConfig
from ragmend.trained import DetectorAnswer, LogRow

pytestmark = pytest.mark.train

# Dropout and an order drawn anew each epoch: what is random must go on where it was. Twelve
# steps, three an epoch, a checkpoint at each epoch's end and at steps 2, 4, 8 and 10.
RECIPE = {
    "epochs": 4,
    "batch_size": 4,
    "save_steps": 2,
    "schedule": "cosine",
    "warmup": 0.2,
    "lora": LoraConfig(r=8, alpha=16, dropout=0.2),
}
CHILD = Path(__file__).with_name("train_in_child.py")


@pytest.fixture(scope="module")
def answers_to_learn(pairs):
    return [
        pair._replace(response=pair.response.model_copy(update={"record_id": f"{n}-{at}"}))
        for n in range(3)
        for at, pair in enumerate(pairs)
    ]


@pytest.fixture(scope="module")
def undisturbed(llama, make_job, answers_to_learn, tmp_path_factory):
    """The same training, run to its end at once."""
    job = make_job(llama, tmp_path_factory.mktemp("runs") / "undisturbed", **RECIPE)
    finish(job, answers_to_learn)
    return job


@pytest.fixture
def job(llama, make_job, tmp_path):
    return make_job(llama, tmp_path / "run", **RECIPE)


def finish(job, pairs, watch=None):
    class Quiet:
        def should_stop(self):
            return False

        def say(self, text):
            pass

    GENERATIVE.fit(job, pairs, list(GENERATIVE.batches(job, pairs)), watch or Quiet())


def read_log(job):
    return list(read_records(job.folder / "log.jsonl", LogRow))


def assert_same(job, other):
    """The same losses to float tolerance, the same adapters after every epoch, the same answers."""
    import torch
    from safetensors.torch import load_file

    ours, theirs = read_log(job), read_log(other)
    assert [row.step for row in ours] == [row.step for row in theirs] == list(range(1, 13))
    for name in ("loss", "grad_norm", "learning_rate", "epoch"):
        assert [getattr(row, name) for row in ours] == pytest.approx(
            [getattr(row, name) for row in theirs], rel=1e-6
        )
    for epoch in range(1, 5):
        left, right = (
            load_file(each.weights(epoch) / "adapter_model.safetensors") for each in (job, other)
        )
        assert left.keys() == right.keys()
        assert all(torch.allclose(left[key], right[key], atol=1e-7) for key in left)
    answers = [
        list(read_records(each.folder / "in-memory.jsonl", DetectorAnswer)) for each in (job, other)
    ]
    assert answers[0] == answers[1]


def start(job, pairs, tmp_path):
    order = {
        "name": job.name,
        "trained": job.trained.model_dump_json(),
        "recipe": job.recipe.model_dump_json(),
        "seed": job.seed,
        "folder": str(job.folder),
        "pairs": [[p.response.model_dump_json(), p.source.model_dump_json()] for p in pairs],
    }
    path = tmp_path / "order.json"
    path.write_text(json.dumps(order))
    return subprocess.Popen(
        [sys.executable, str(CHILD), str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


def wait_for_steps(child, job, n_steps):
    log = job.folder / "log.jsonl"
    for _ in range(2_000):
        if log.exists() and log.read_bytes().count(b"\n") >= n_steps:
            return
        if child.poll() is not None:
            break
        time.sleep(0.05)
    child.kill()
    pytest.fail(f"no {n_steps} steps came: {child.communicate()}")


def test_killed_in_the_middle_it_goes_on_from_the_last_checkpoint(
    job, answers_to_learn, undisturbed, tmp_path
):
    child = start(job, answers_to_learn, tmp_path)
    wait_for_steps(child, job, 6)
    child.send_signal(signal.SIGKILL)
    assert child.wait(timeout=60) == -signal.SIGKILL
    child.communicate()
    assert not (job.folder / "in-memory.jsonl").exists()
    # As if it had been killed while it saved the last checkpoint, and wrote its log.
    last = max((job.folder / "checkpoints").iterdir(), key=lambda p: int(p.name.split("-")[1]))
    (last / "trainer_state.json").write_text('{"epoch": 2.0, "global_st')
    with (job.folder / "log.jsonl").open("a") as file:
        file.write('{"step": 8, "epo')
    finish(job, answers_to_learn)
    assert_same(job, undisturbed)


def test_asked_to_end_it_saves_says_where_and_goes_on_later(
    job, answers_to_learn, undisturbed, tmp_path
):
    child = start(job, answers_to_learn, tmp_path)
    wait_for_steps(child, job, 4)
    child.send_signal(signal.SIGTERM)
    printed, said = child.communicate(timeout=120)
    assert child.returncode == 75
    assert printed == ""
    n_steps = len(read_log(job))
    assert 4 <= n_steps < 12
    assert said.startswith(f"tiny/seed-3: stopped after step {n_steps} of 12; a checkpoint is")
    assert (job.folder / "checkpoints" / f"checkpoint-{n_steps}").is_dir()
    finish(job, answers_to_learn)
    assert_same(job, undisturbed)


def test_stopped_after_every_single_step_it_still_comes_to_the_same_end(
    job, answers_to_learn, undisturbed, quiet
):
    n_stops = 0
    while not (job.folder / "in-memory.jsonl").exists() and n_stops < 30:
        n_stops += 1
        with suppress(PreemptedError):
            finish(job, answers_to_learn, quiet(stop_after=1) if n_stops <= 13 else None)
    assert n_stops == 14  # after each of 12 steps, and before the probe
    assert_same(job, undisturbed)
