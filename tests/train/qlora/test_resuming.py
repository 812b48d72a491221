"""A training that is stopped goes on as if nothing had happened."""

import shutil

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


@pytest.fixture(scope="module")
def answers_to_learn(pairs):
    return [
        pair._replace(response=pair.response.model_copy(update={"record_id": f"{n}-{at}"}))
        for n in range(3)
        for at, pair in enumerate(pairs)
    ]


@pytest.fixture(scope="module")
def undisturbed(llama, make_job, answers_to_learn, quiet, tmp_path_factory):
    """The same training, run to its end at once."""
    job = make_job(llama, tmp_path_factory.mktemp("runs") / "undisturbed", **RECIPE)
    fit(job, answers_to_learn, quiet())
    return job


@pytest.fixture
def job(llama, make_job, tmp_path):
    return make_job(llama, tmp_path / "run", **RECIPE)


def fit(job, pairs, watch):
    GENERATIVE.fit(job, pairs, list(GENERATIVE.batches(job, pairs)), watch)


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


def test_stopped_wherever_it_comes_to_the_same_end(job, answers_to_learn, undisturbed, quiet):
    # After the first step, at an epoch's end, in the middle, and before the last step.
    for n_more, step in ((1, 1), (2, 3), (4, 7), (4, 11)):
        with pytest.raises(PreemptedError, match=f"tiny/seed-3: stopped after step {step} of 12"):
            fit(job, answers_to_learn, quiet(stop_after=n_more))
        assert (job.folder / "checkpoints" / f"checkpoint-{step}").is_dir()
        assert not (job.folder / "in-memory.jsonl").exists()
    watch = quiet(stop_after=1)  # the last step: it is done
    fit(job, answers_to_learn, watch)
    assert watch.lines[0] == "tiny/seed-3: goes on after step 11 of 12"
    assert_same(job, undisturbed)


def test_killed_before_its_probe_it_says_nothing_of_weights_in_memory(
    undisturbed, answers_to_learn, quiet, tmp_path
):
    job = undisturbed._replace(folder=tmp_path / "run")
    shutil.copytree(undisturbed.folder, job.folder)
    (job.folder / "in-memory.jsonl").unlink()
    fit(job, answers_to_learn, quiet())
    assert (job.folder / "in-memory.jsonl").read_bytes() == b""
    assert len(read_log(job)) == 12
