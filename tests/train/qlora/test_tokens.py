"""Token ids with real tokenizers: begun once, ended always, the same in training and in use."""

import pytest

from ragmend.detector.qlora.collating import build_collator
from ragmend.detector.qlora.facts import find_token_facts
from ragmend.detector.qlora.kind import GENERATIVE
from ragmend.detector.qlora.rows import asked_prompt, make_rows
from ragmend.detector.qlora.targets import target_text
from ragmend.detector.qlora.tokens import load_coder, make_coder
from ragmend.errors import ConfigError
from ragmend.sections.training import Recipe

pytestmark = pytest.mark.train


@pytest.fixture(params=["llama", "llama_2"])
def job(request, make_job, tmp_path):
    return make_job(request.getfixturevalue(request.param), tmp_path / "run")


def test_a_prompt_begins_once_where_the_tokenizer_begins_texts_by_itself(
    llama, llama_2, make_job, tmp_path
):
    plain, adding = (load_coder(make_job(folder, tmp_path)) for folder in (llama, llama_2))
    assert plain.begin_id is None
    assert adding.begin_id == adding.tokenizer.bos_token_id
    assert adding.prompt_ids("a b")[0] == adding.begin_id
    assert adding.prompt_ids("a b").count(adding.begin_id) == 1
    assert adding.prompt_ids("a b") == adding.tokenizer.encode("a b")


def test_a_special_token_in_data_is_read_as_text(job):
    coder = load_coder(job)
    special = coder.tokenizer.all_special_tokens
    ids = coder.target_ids(" ".join(special))
    assert not set(ids[:-1]) & set(coder.tokenizer.all_special_ids)
    assert coder.text_of(ids).split() == special


def test_every_target_ends_with_the_end_token_and_learns_it(job, pairs):
    coder = load_coder(job)
    rows = make_rows(pairs, coder, job.recipe)
    batch = build_collator(coder)(
        [{"input_ids": row.input_ids, "labels": row.labels} for row in rows]
    )
    for row, labels, mask in zip(rows, batch["labels"], batch["attention_mask"], strict=True):
        learnt = labels[labels != -100].tolist()
        assert learnt == row.target_ids
        assert learnt[-1] == coder.tokenizer.eos_token_id
        assert coder.text_of(learnt) == target_text(row.pair.response)
        assert int(mask.sum()) == len(row.input_ids)


def test_what_is_asked_is_what_was_trained_on_with_a_real_tokenizer(job, pairs):
    coder = load_coder(job)
    for row in make_rows(pairs, coder, job.recipe):
        assert row.prompt == asked_prompt(row.pair, coder, job.recipe)


def test_a_sound_training_shows_nothing_wrong_in_its_tokens(job, pairs):
    facts = GENERATIVE.token_facts(job, pairs)
    assert facts.n_targets == len(pairs)
    assert not facts.pad_is_end
    assert facts.pad_token != facts.end_token
    assert (facts.n_without_end, facts.n_double_begin, facts.n_served_otherwise) == (0, 0, 0)


def test_a_prompt_that_a_long_target_shortened_is_counted_as_asked_otherwise(job, make_pair):
    coder = load_coder(job)
    pair = make_pair("1", "It is closed on Sundays.", "closed on Sundays", "It is open. " * 20)
    n_prompt = len(asked_prompt(pair, coder, job.recipe).ids)
    recipe = Recipe(max_length=n_prompt + 8, answer_tokens=8)
    facts = find_token_facts(make_rows([pair], coder, recipe), coder, recipe)
    assert facts.n_served_otherwise == 1


def test_two_tokens_for_the_beginning_are_counted(llama_2, make_job, pairs, tmp_path):
    job = make_job(llama_2, tmp_path)
    coder = load_coder(job)
    rows = make_rows(pairs, coder, job.recipe)
    doubled = [
        row._replace(prompt=row.prompt._replace(ids=[coder.begin_id, *row.prompt.ids]))
        for row in rows
    ]
    assert find_token_facts(doubled, coder, job.recipe).n_double_begin == len(pairs)


def test_llama_2_has_no_padding_token_and_gets_the_one_for_unknown_text(
    llama_2, make_job, tmp_path
):
    coder = load_coder(make_job(llama_2, tmp_path))
    assert coder.tokenizer.pad_token == coder.name_of(coder.pad_id) == "<unk>"
    assert coder.end_ids == {coder.tokenizer.eos_token_id}


def test_a_padding_token_that_ends_answers_is_passed_over(make_tokenizer):
    tokenizer = make_tokenizer["byte-level"]()
    tokenizer.pad_token = tokenizer.eos_token
    tokenizer.unk_token = "<|pad|>"
    coder = make_coder(tokenizer, frozenset(), Recipe())
    assert coder.name_of(coder.pad_id) == tokenizer.pad_token == "<|pad|>"


def test_the_end_tokens_of_the_generation_settings_are_no_padding_either(make_tokenizer):
    tokenizer = make_tokenizer["byte-fallback"]()
    unknown = tokenizer.unk_token_id
    with pytest.raises(ConfigError, match=r"recipe\.pad_token"):
        make_coder(tokenizer, frozenset({unknown}), Recipe())


def test_the_configured_padding_token_is_taken(make_tokenizer):
    tokenizer = make_tokenizer["byte-fallback"]()
    coder = make_coder(tokenizer, frozenset(), Recipe(pad_token="<0x00>"))
    assert tokenizer.pad_token == "<0x00>"
    assert coder.name_of(coder.pad_id) == "<0x00>"
    assert len(tokenizer) == len(make_tokenizer["byte-fallback"]())


@pytest.mark.parametrize(
    ("token", "message"), [("</s>", "ends an answer"), ("<pad>", "not in the vocabulary")]
)
def test_a_configured_padding_token_that_cannot_be_one_is_refused(make_tokenizer, token, message):
    with pytest.raises(ConfigError, match=message):
        make_coder(make_tokenizer["byte-fallback"](), frozenset(), Recipe(pad_token=token))


def test_a_tokenizer_without_an_end_is_refused(make_tokenizer):
    tokenizer = make_tokenizer["byte-fallback"]()
    tokenizer.eos_token = None
    with pytest.raises(ConfigError, match="no token that ends an answer"):
        make_coder(tokenizer, frozenset(), Recipe())


def test_more_tokens_than_the_base_can_read_are_refused(llama, make_job, tmp_path):
    with pytest.raises(ConfigError, match=r"max_length is 4096.*context of 2048"):
        load_coder(make_job(llama, tmp_path, max_length=4096))
