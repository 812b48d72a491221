"""Training for real, with a tiny model: what it learns, logs and leaves."""

import json

import pytest

from ragmend.detector.qlora.bases import load_base
from ragmend.detector.qlora.kind import GENERATIVE
from ragmend.detector.qlora.rows import make_rows
from ragmend.detector.qlora.tokens import load_coder
from ragmend.io import read_records
from ragmend.trained import DetectorAnswer, LogRow

pytestmark = pytest.mark.train


STEPS = 30  # five epochs of four answers, six times each, four a step


def train(job, pairs, watch, repeats=1):
    GENERATIVE.fit(job, pairs * repeats, list(GENERATIVE.batches(job, pairs)), watch)
    return job


def losses(job):
    return [row.loss for row in read_records(job.folder / "log.jsonl", LogRow)]


def answers(job):
    return list(read_records(job.folder / "in-memory.jsonl", DetectorAnswer))


def adapter(job, epoch):
    from safetensors.torch import load_file

    return load_file(job.weights(epoch) / "adapter_model.safetensors")


def verdicts(job, pairs):
    by_id = {pair.response.record_id: pair.response for pair in pairs}
    found = {}
    for answer in answers(job):
        read = GENERATIVE.read(answer, by_id[answer.record_id], run_id=job.run_id, threshold=None)
        found[answer.record_id] = (read.verdict, [span.text for span in read.spans])
    return found


def learnt_by_heart(job, pairs):
    expected = {
        pair.response.record_id: (
            "hallucinated" if pair.response.gold_spans else "clean",
            [span.text for span in pair.response.gold_spans],
        )
        for pair in pairs
    }
    return verdicts(job, pairs) == expected


def test_a_quantised_model_learns_to_write_the_verdict_and_to_stop(learnt, pairs):
    job, watch = learnt
    assert losses(job)[-1] < 0.2 * losses(job)[0]
    assert learnt_by_heart(job, pairs)
    assert all(answer.ended and answer.problem is None for answer in answers(job))
    assert watch.lines
    assert all(line.startswith("tiny/seed-3: step ") for line in watch.lines)


def test_every_step_is_logged_with_its_rate_and_norm(learnt):
    job, _ = learnt
    rows = list(read_records(job.folder / "log.jsonl", LogRow))
    assert [row.step for row in rows] == list(range(1, STEPS + 1))
    assert [row.epoch for row in rows] == pytest.approx([n / 6 for n in range(1, STEPS + 1)])
    assert all(row.loss is not None and row.grad_norm is not None for row in rows)
    assert rows[0].learning_rate == 0.0  # the warm-up: a share of 0.03 of 30 steps
    assert rows[-1].learning_rate == pytest.approx(5e-3)


def test_every_epoch_leaves_its_adapter_as_float32_named_for_the_base(learnt):
    import torch

    job, _ = learnt
    for epoch in range(1, 6):
        assert {tensor.dtype for tensor in adapter(job, epoch).values()} == {torch.float32}
    settings = json.loads((job.weights(5) / "adapter_config.json").read_text())
    assert (settings["base_model_name_or_path"], settings["revision"]) == ("org/tiny", None)
    assert len(adapter(job, 5)) == 2 * 2 * 7
    names = sorted(path.name for path in job.weights(5).iterdir())
    assert names == ["adapter_config.json", "adapter_model.safetensors"]
    assert not list(job.folder.rglob("*.partial"))


def test_only_the_last_two_checkpoints_are_kept(learnt):
    job, _ = learnt
    names = sorted(path.name for path in (job.folder / "checkpoints").iterdir())
    assert names == ["checkpoint-24", "checkpoint-30"]


def test_weights_may_be_read_by_whom_the_umask_lets(learnt):
    job, _ = learnt
    expected = (job.folder / "log.jsonl").stat().st_mode
    weights = [path for path in job.folder.rglob("*.safetensors") if path.is_file()]
    assert len(weights) == 5 + 2
    assert {path.stat().st_mode for path in weights} == {expected}


def test_nothing_is_printed_but_losses_go_to_tensorboard_in_the_folder_of_the_training(
    llama, make_job, pairs, quiet, tmp_path, capfd
):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    job = make_job(llama, tmp_path / "run", epochs=2)._replace(trackers=("tensorboard",))
    train(job, pairs, quiet())
    assert capfd.readouterr() == ("", "")
    events = EventAccumulator(str(job.folder / "tracking" / "tensorboard"))
    events.Reload()
    shown = [event.value for event in events.Scalars("train/loss")]
    assert shown == pytest.approx(losses(job))


def test_the_same_seed_gives_the_same_losses_and_another_does_not(
    llama, make_job, pairs, quiet, tmp_path
):
    from ragmend.sections.training import LoraConfig

    recipe = {"epochs": 2, "batch_size": 2, "lora": LoraConfig(r=4, dropout=0.1)}
    runs = [
        train(make_job(llama, tmp_path / name, seed=seed, **recipe), pairs, quiet())
        for name, seed in (("a", 5), ("b", 5), ("c", 6))
    ]
    assert losses(runs[0]) == losses(runs[1]) != losses(runs[2])
    assert answers(runs[0]) == answers(runs[1])


@pytest.mark.parametrize(
    ("base", "how"),
    [
        ("llama_2", {"dtype": "bfloat16", "gradient_checkpointing": True}),
        ("llama", {"quantization": None, "packing": True, "micro_batch_size": 1, "batch_size": 2,
                   "max_length": 400}),
    ],
    ids=["bfloat16, checkpointing and a tokenizer as Llama-2's", "full precision and packing"],
)  # fmt: skip
def test_other_ways_to_train_learn_as_well(request, make_job, pairs, quiet, tmp_path, base, how):
    job = make_job(request.getfixturevalue(base), tmp_path / "run", **how)
    train(job, pairs, quiet(), repeats=6)
    assert losses(job)[-1] < 0.2 * losses(job)[0]
    assert learnt_by_heart(job, pairs)
    with GENERATIVE.open(job, job.weights(5)) as predictor:
        reloaded = [
            answer for batch in GENERATIVE.batches(job, pairs) for answer in predictor.answer(batch)
        ]
    assert reloaded == answers(job)


def test_a_loss_that_is_no_number_is_logged_as_none_and_does_not_end_the_training(
    llama, make_job, pairs, quiet, tmp_path, monkeypatch
):
    from trl import SFTTrainer

    step = SFTTrainer.training_step
    monkeypatch.setattr(
        SFTTrainer, "training_step", lambda *args, **more: step(*args, **more) * float("nan")
    )
    job = train(make_job(llama, tmp_path / "run", epochs=2), pairs, quiet())
    rows = list(read_records(job.folder / "log.jsonl", LogRow))
    assert [row.loss for row in rows] == [None, None]
    assert all(row.grad_norm is not None for row in rows)


def test_max_steps_ends_in_the_epoch_that_it_is_in(llama, make_job, pairs, quiet, tmp_path):
    job = make_job(llama, tmp_path / "run", epochs=3, batch_size=2, max_steps=3)
    train(job, pairs, quiet())
    assert len(losses(job)) == 3
    assert [job.weights(epoch).is_dir() for epoch in (1, 2, 3)] == [True, True, False]


def test_an_answer_that_does_not_fit_takes_no_part_and_nothing_else_is_dropped(
    llama, make_job, pairs, quiet, tmp_path
):
    long = pairs[0]._replace(
        response=pairs[0].response.model_copy(update={"record_id": "9", "text": "word " * 600})
    )
    job = make_job(llama, tmp_path / "run", epochs=1, batch_size=1, micro_batch_size=1)
    [row] = GENERATIVE.measure(job, [*pairs, long])
    assert (row.n, row.n_refused) == (5, 1)
    train(job, [*pairs, long], quiet())
    assert len(losses(job)) == 4
    [refused] = [answer for answer in answers_of(job, [*pairs, long]) if answer.problem]
    assert (refused.record_id, refused.problem) == ("9", "too_long")
    assert "response 9: without its source the prompt has" in refused.message


def answers_of(job, pairs):
    with GENERATIVE.open(job, job.weights(1)) as predictor:
        return predictor.answer(pairs)


def test_packed_answers_do_not_see_each_other(llama, make_job, pairs, tmp_path):
    import torch
    from trl.trainer.sft_trainer import DataCollatorForLanguageModeling

    job = make_job(llama, tmp_path, quantization=None)
    coder, base = load_coder(job), load_base(job)
    rows = make_rows(pairs, coder, job.recipe)
    packed = {
        "input_ids": [token for row in rows for token in row.input_ids],
        "labels": [label for row in rows for label in row.labels],
        "seq_lengths": [len(row.input_ids) for row in rows],
    }
    batch = DataCollatorForLanguageModeling(pad_token_id=0, padding_free=True)([packed])
    with torch.no_grad():
        together = base(**batch, use_cache=False).logits[0]  # as TRL does
        alone = [base(input_ids=torch.tensor([row.input_ids])).logits[0] for row in rows]
    assert torch.allclose(together, torch.cat(alone), atol=1e-4)


def test_packing_ends_with_the_last_epoch_too(llama, make_job, pairs, quiet, tmp_path):
    how = {"packing": True, "micro_batch_size": 1, "batch_size": 1, "max_length": 400, "epochs": 2}
    job = train(make_job(llama, tmp_path / "run", max_steps=500, **how), pairs, quiet())
    assert len(losses(job)) == 4  # two answers in each of two sequences
    assert job.weights(2).is_dir()


@pytest.mark.parametrize(("dtype", "expected"), [("bfloat16", True), ("float32", False)])
def test_a_quantised_base_in_bfloat16_trains_in_it_on_a_gpu(
    llama, make_job, pairs, tmp_path, monkeypatch, dtype, expected
):
    """Preparing a quantised base makes float32 of all else, by which nothing may be decided."""
    from ragmend.detector.qlora import training

    asked = []
    arguments = training._training_arguments

    def ask(job, *, is_bfloat16):
        asked.append(is_bfloat16)
        return arguments(job, is_bfloat16=False)  # no GPU here

    monkeypatch.setattr(training, "_training_arguments", ask)
    job = make_job(llama, tmp_path, quantization="bitsandbytes", dtype=dtype)
    coder = training.load_coder(job)
    rows = training.rows_that_fit(training.make_rows(pairs, coder, job.recipe))
    with training.ignore_known_warnings():
        trainer = training.make_trainer(job, training.load_base(job), rows, coder)
    assert asked == [expected]
    assert str(trainer.model.get_base_model().dtype) == "torch.float32"
