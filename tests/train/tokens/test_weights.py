"""Weights on disk: what is reloaded answers as what was in memory, and what is none is refused."""

import json
import shutil

import pytest

from ragmend.detector.tokens.kind import TOKEN_CLASSIFICATION
from ragmend.detector.training.job import IN_MEMORY
from ragmend.errors import ConfigError, DataError, MissingInputError, ResourceError
from ragmend.io import read_records
from ragmend.trained import DetectorAnswer

pytestmark = pytest.mark.train


@pytest.fixture(scope="module", params=["modernbert", "bert"])
def architecture(request):
    return request.param


@pytest.fixture
def trained(request, make_job, architecture, pairs, watch, tmp_path_factory):
    """A job whose training is done; it is trained once."""
    folder = tmp_path_factory.getbasetemp() / f"trained-{architecture}"
    job = make_job(folder, base=request.getfixturevalue(architecture), epochs=1)
    batches = list(TOKEN_CLASSIFICATION.batches(job, pairs))
    TOKEN_CLASSIFICATION.fit(job, pairs, batches, watch)
    return job


@pytest.fixture
def weights(trained, tmp_path):
    """A copy of its weights, to spoil."""
    return shutil.copytree(trained.weights(1), tmp_path / "weights")


def answer(job, weights, pairs):
    with TOKEN_CLASSIFICATION.open(job, weights) as predictor:
        batches = list(TOKEN_CLASSIFICATION.batches(job, pairs))
        return [found for batch in batches for found in predictor.answer(batch)]


def test_reloaded_weights_answer_exactly_as_those_in_memory(trained, pairs):
    before = list(read_records(trained.folder / IN_MEMORY, DetectorAnswer))
    assert answer(trained, trained.weights(1), pairs) == before
    assert sum(len(found.scores) for found in before) > 20


def test_every_visible_character_of_an_answer_has_a_probability(trained, pairs):
    responses = {pair.response.record_id: pair.response for pair in pairs}
    for found in answer(trained, trained.weights(1), pairs):
        text = responses[found.record_id].text
        covered = {at for s in found.scores for at in range(s.start, s.end)}
        assert {at for at, c in enumerate(text) if not c.isspace()} <= covered
        assert found.ended
        assert found.n_tokens >= len(found.scores)
        assert all(0 < score.p < 1 for score in found.scores)


def test_answers_that_do_not_fit_or_have_no_token_leave_the_others_theirs(trained, pairs, pair_of):
    long, empty = pair_of("long", "It opens at nine. " * 60), pair_of("empty", " \n ")
    with TOKEN_CLASSIFICATION.open(trained, trained.weights(1)) as predictor:
        alone = predictor.answer(pairs[:2])
        mixed = predictor.answer([pairs[0], long, empty, pairs[1]])
        nothing = predictor.answer([long, empty])
    assert [mixed[0], mixed[3]] == alone
    assert mixed[1:3] == nothing
    assert (mixed[1].problem, mixed[1].scores) == ("too_long", ())
    assert "recipe.max_length is 256 tokens" in mixed[1].message
    assert (mixed[2].problem, mixed[2].scores) == (None, ())


def test_a_shortened_source_is_counted(trained, pair_of):
    long = pair_of("1", "It opens.", source="The library opens at nine. " * 60)
    with TOKEN_CLASSIFICATION.open(trained, trained.weights(1)) as predictor:
        (found,) = predictor.answer([long])
    assert found.left_out_fragments > 10
    assert found.problem is None


def test_numbers_that_are_none_are_a_problem_and_no_verdict(trained, weights, pairs):
    from safetensors.torch import load_file, save_file

    tensors = load_file(weights / "model.safetensors")
    tensors["classifier.bias"][:] = float("nan")
    save_file(tensors, weights / "model.safetensors", metadata={"format": "pt"})
    found = answer(trained, weights, pairs)
    assert {one.problem for one in found} == {"non_finite"}
    assert not any(one.scores for one in found)


def test_weights_of_another_base_are_refused(trained, make_job, pairs):
    folder = trained.trained.model.folder
    for model in ({"id": "org/other"}, {"revision": "a" * 40}):
        other = make_job(base=folder, model=model)
        with pytest.raises(ConfigError, match=r"was trained from org/tiny .* is configured with"):
            answer(other, trained.weights(1), pairs)
        with pytest.raises(ConfigError, match="was trained from"):
            TOKEN_CLASSIFICATION.norms(other, trained.weights(1))


def test_a_base_is_no_trained_classifier(trained, make_job, pairs):
    base = trained.weights(1).with_name("base")
    shutil.copytree(trained.trained.model.folder, base, dirs_exist_ok=True)
    with pytest.raises(ConfigError, match="holds no token classifier that was trained here"):
        answer(trained, base, pairs)


def test_a_folder_that_is_not_there_is_named(trained, pairs, tmp_path):
    with pytest.raises(MissingInputError, match="absent: no such folder"):
        answer(trained, tmp_path / "absent", pairs)


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "base.json"])
def test_files_that_are_cut_off_are_refused(trained, weights, pairs, name):
    (weights / name).write_bytes((weights / name).read_bytes()[:20])
    with pytest.raises(DataError, match=r"weights"):
        answer(trained, weights, pairs)


def test_a_file_that_is_missing_is_refused(trained, weights, pairs):
    (weights / "model.safetensors").unlink()
    with pytest.raises(DataError, match=r"model\.safetensors"):
        answer(trained, weights, pairs)


def test_weights_that_lack_a_layer_are_refused_and_not_drawn_anew(trained, weights, pairs):
    from safetensors.torch import load_file, save_file

    tensors = load_file(weights / "model.safetensors")
    del tensors["classifier.weight"]
    save_file(tensors, weights / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(DataError, match=r"1 lack or have another shape, as classifier\.weight"):
        answer(trained, weights, pairs)


def test_there_are_no_norms_of_an_adapter(trained):
    assert TOKEN_CLASSIFICATION.norms(trained, trained.weights(1)) == []


def test_the_weights_name_their_base_and_their_labels(trained):
    base = json.loads((trained.weights(1) / "base.json").read_text())
    assert base == {"id": "org/tiny", "revision": None}
    config = json.loads((trained.weights(1) / "config.json").read_text())
    assert config["id2label"] == {"0": "supported", "1": "unsupported"}


def test_an_end_of_the_memory_while_answering_is_said(trained, pairs, monkeypatch):
    import torch

    def run_out(*given, **named):
        raise RuntimeError(
            "[enforce fail at alloc_cpu.cpp] DefaultCPUAllocator: can't allocate memory"
        )

    with TOKEN_CLASSIFICATION.open(trained, trained.weights(1)) as predictor:
        monkeypatch.setattr(torch.nn.Linear, "forward", run_out)
        with pytest.raises(ResourceError, match="generation_batch_size"):
            predictor.answer(pairs)
