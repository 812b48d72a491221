"""Training a token classifier for real: it learns, and the same seed gives the same."""

import math

import pytest

from ragmend.detector.tokens.kind import TOKEN_CLASSIFICATION
from ragmend.detector.training.job import IN_MEMORY, LOG
from ragmend.errors import DataError, OutputError, ResourceError
from ragmend.io import read_records
from ragmend.trained import DetectorAnswer, LogRow

pytestmark = pytest.mark.train


def fit(job, pairs, watch):
    TOKEN_CLASSIFICATION.fit(job, pairs, list(TOKEN_CLASSIFICATION.batches(job, pairs)), watch)


def rows_of(job):
    return list(read_records(job.folder / LOG, LogRow))


def losses_of(job):
    return [row.loss for row in rows_of(job)]


def answers_of(job):
    found = read_records(job.folder / IN_MEMORY, DetectorAnswer)
    return {answer.record_id: answer for answer in found}


@pytest.mark.parametrize("architecture", ["modernbert", "bert"])
def test_a_handful_of_answers_is_learnt_until_spans_are_the_gold_spans(
    request, architecture, make_job, pairs, watch
):
    # 2 heads and 64 units learn six answers by heart; without dropout they keep them.
    base = request.getfixturevalue("make_base")(
        make_job().folder / "base", architecture, hidden_size=64,
        **({"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
           if architecture == "bert" else {}),
    )  # fmt: skip
    job = make_job(base=base, epochs=60, batch_size=6, schedule="constant")
    fit(job, pairs, watch)
    losses = losses_of(job)
    assert losses[-1] < 0.1 < losses[0]
    answers, responses = answers_of(job), [pair.response for pair in pairs]
    threshold = TOKEN_CLASSIFICATION.choose_threshold(answers, responses)
    for response in responses:
        found = TOKEN_CLASSIFICATION.read(
            answers[response.record_id], response, run_id=job.run_id, threshold=threshold
        )
        # A full stop at a span's end is a token like any other.
        assert [s.text for s in found.spans] == [s.text for s in response.gold_spans]


def test_the_same_seed_gives_the_same_and_another_does_not(make_job, bert, tmp_path, pairs, watch):
    first, again, other = (
        make_job(tmp_path / name, base=bert, seed=seed, epochs=2)
        for name, seed in (("a", 5), ("b", 5), ("c", 6))
    )
    for job in (first, again, other):
        fit(job, pairs, watch)
    assert rows_of(first) == rows_of(again)
    assert answers_of(first) == answers_of(again)
    assert losses_of(first) != losses_of(other)


def test_a_step_is_of_batch_size_answers_however_they_are_cut(make_job, tmp_path, pairs, watch):
    jobs = [
        make_job(tmp_path / str(micro), batch_size=4, micro_batch_size=micro, epochs=2,
                 gradient_checkpointing=micro != 2)
        for micro in (1, 2, 4)
    ]  # fmt: skip
    for job in jobs:
        fit(job, pairs, watch)
    assert len(losses_of(jobs[0])) == 4  # 6 answers: 4 and 2 a step
    for job in jobs[1:]:
        assert losses_of(job) == pytest.approx(losses_of(jobs[0]), rel=1e-4)


def test_the_first_loss_is_the_mean_over_the_visible_tokens_of_the_answers(make_job, pairs, watch):
    import torch

    from ragmend.detector.tokens.encoding import encode_pair
    from ragmend.detector.tokens.labels import label_tokens
    from ragmend.detector.tokens.loading import load_base

    job = make_job(batch_size=6, micro_batch_size=2, max_steps=1)
    model, tokenizer, columns = load_base(job)
    nats = []
    for pair in pairs:
        encoded = encode_pair(tokenizer, pair, 256)
        inputs = {n: torch.tensor(encoded.columns[n])[None].long() for n in columns}
        log_p = model(**inputs).logits[0].log_softmax(-1)
        labels = label_tokens(encoded, pair.response)
        nats += [-log_p[t.position, labels[t.position]].item() for t in encoded.tokens]
    fit(job, pairs, watch)
    assert losses_of(job) == pytest.approx([sum(nats) / len(nats)], rel=1e-5)


def test_the_learning_rate_rises_and_falls_as_the_recipe_says(make_job, pairs, watch):
    job = make_job(epochs=5, schedule="linear", warmup=0.2, learning_rate=1e-3)
    fit(job, pairs, watch)
    rates = [row.learning_rate for row in rows_of(job)]
    assert rates == pytest.approx([0, 5e-4, *(1e-3 * (10 - n) / 8 for n in range(2, 10))])
    assert [row.epoch for row in rows_of(job)] == [step / 2 for step in range(1, 11)]


def test_each_epoch_leaves_its_weights_and_a_last_one_that_is_cut_short_too(make_job, pairs, watch):
    job = make_job(epochs=3, max_steps=3)  # 2 steps an epoch
    fit(job, pairs, watch)
    assert [epoch for epoch in (1, 2, 3) if job.weights(epoch).exists()] == [1, 2]
    names = {path.name for path in job.weights(2).iterdir()}
    assert names == {"base.json", "config.json", "model.safetensors", "tokenizer.json",
                     "tokenizer_config.json"}  # fmt: skip
    assert str(job.trained.model.folder) not in "".join(
        path.read_text() for path in job.weights(2).glob("*.json")
    )
    expected = (job.folder / LOG).stat().st_mode
    assert {path.stat().st_mode for path in job.weights(2).iterdir()} == {expected}
    checkpoints = sorted(path.name for path in (job.folder / "checkpoints").iterdir())
    assert checkpoints == ["checkpoint-2", "checkpoint-3"]


def test_answers_that_cannot_be_learnt_from_are_left_out_and_counted(
    make_job, pairs, pair_of, watch
):
    job = make_job(epochs=1, max_length=96)
    long, empty = pair_of("long", "It opens at nine. " * 50), pair_of("empty", " \n")
    fit(job, [*pairs, long, empty], watch)
    assert watch.lines[0] == (
        "tiny/seed-3: 6 answers to learn from; left out: 1 that do not fit in 96 tokens, 1 "
        "without a token"
    )
    with pytest.raises(DataError, match="none of 1 training answers"):
        fit(make_job(job.folder / "none", max_length=96), [long], watch)


def test_training_answers_without_annotation_are_named(make_job, pairs, watch):
    unknown = pairs[2]._replace(response=pairs[2].response.model_copy(update={"gold_spans": None}))
    with pytest.raises(DataError, match="'2': nobody annotated it"):
        fit(make_job(), [*pairs[:2], unknown], watch)


def test_a_loss_that_is_no_number_is_logged_as_none(make_job, pairs, watch, monkeypatch):
    from ragmend.detector.tokens import training

    mean = training._mean_over_tokens
    monkeypatch.setattr(
        training, "_mean_over_tokens", lambda *given, **named: mean(*given, **named) * math.nan
    )
    job = make_job(epochs=1)
    fit(job, pairs, watch)
    assert [(row.loss, row.grad_norm) for row in rows_of(job)] == [(None, None)] * 2
    answers = answers_of(job)
    assert {answer.problem for answer in answers.values()} == {"non_finite"}
    assert "token probabilities are no numbers" in answers["0"].message
    responses = [pair.response for pair in pairs]
    assert TOKEN_CLASSIFICATION.choose_threshold(answers, responses) is None


def test_bfloat16_products_train_float32_weights(make_job, pairs, watch):
    from safetensors.torch import load_file

    job = make_job(epochs=3, model={"dtype": "bfloat16"})
    fit(job, pairs, watch)
    losses = losses_of(job)
    assert losses[-1] < losses[0]
    weights = load_file(job.weights(1) / "model.safetensors")
    assert {str(tensor.dtype) for tensor in weights.values()} == {"torch.float32"}
    with TOKEN_CLASSIFICATION.open(job, job.weights(3)) as predictor:
        batches = TOKEN_CLASSIFICATION.batches(job, pairs)
        answers = [answer for batch in batches for answer in predictor.answer(batch)]
    assert {answer.record_id: answer for answer in answers} == answers_of(job)


def test_an_end_of_the_memory_says_what_to_lower(make_job, pairs, watch, monkeypatch):
    import torch

    from ragmend.detector.tokens import training

    def run_out(*given, **named):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.\nmore")

    monkeypatch.setattr(training, "_mean_over_tokens", run_out)
    with pytest.raises(ResourceError) as error:
        fit(make_job(), pairs, watch)
    assert "Tried to allocate 2.00 GiB.); lower recipe.micro_batch_size (now 3;" in str(error.value)
    assert "recipe.max_length (now 256)" in str(error.value)


def test_a_full_disk_is_said_and_leaves_no_half_weights(make_job, pairs, watch, monkeypatch):
    from transformers import PreTrainedModel

    def fill(self, folder, **named):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(PreTrainedModel, "save_pretrained", fill)
    job = make_job()
    with pytest.raises(OutputError, match="No space left on device"):
        fit(job, pairs, watch)
    assert not job.weights(1).exists()


def test_training_prints_nothing(make_job, pairs, watch, capfd):
    fit(make_job(epochs=1), pairs, watch)
    captured = capfd.readouterr()
    assert (captured.out, captured.err) == ("", "")
