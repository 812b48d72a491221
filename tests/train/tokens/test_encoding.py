"""What an encoder sees, with real tokenizers: offsets come back exactly, only the source is cut."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragmend.detector.tokens.encoding import encode_pair
from ragmend.detector.tokens.labels import label_tokens
from ragmend.detector.tokens.loading import load_tokenizer
from ragmend.detector.training.job import Pair
from ragmend.llm.pieces import LEFT_OUT
from ragmend.records import Source

pytestmark = pytest.mark.train

HARD = (
    " \n😀 cafe\u0301 opens\u2028at  nine.\u0085\t ",
    "\u200bThe \u200b library\u00ad ope\u0301ns",
    "e\u0301e\u0301\u0323 ﬁve \u1112\u1161\u11ab 한",
    "𝒜𝒷 closes [SEP] at [CLS] five [PAD][MASK]",
    "\x07bell \ufffd end\x00",
)


@pytest.fixture(scope="module", params=["modernbert", "bert"])
def tokenizer(request):
    """Each base's tokenizer, as training and use have it."""
    from ragmend.detector.training.job import Job
    from ragmend.sections.models import ModelConfig
    from ragmend.sections.training import Recipe, TrainedModelConfig

    folder = request.getfixturevalue(request.param)
    trained = TrainedModelConfig(
        kind="token-classification", model=ModelConfig(id="org/tiny", folder=str(folder))
    )
    return load_tokenizer(Job("tiny", trained, Recipe(), 1, (), folder))


def with_text(pair, text):
    return pair._replace(response=pair.response.model_copy(update={"text": text}))


def visible(text):
    return {at for at, character in enumerate(text) if not character.isspace()}


def check_offsets(encoded, text):
    """Check that tokens lie in order in the text, and cover all of it that can be seen."""
    starts = [token.start for token in encoded.tokens]
    positions = [token.position for token in encoded.tokens]
    assert starts == sorted(starts)
    assert positions == sorted(set(positions))
    assert all(0 <= token.start < token.end <= len(text) for token in encoded.tokens)
    assert all(text[token.start : token.end].strip() for token in encoded.tokens)
    covered = {at for token in encoded.tokens for at in range(token.start, token.end)}
    assert not encoded.tokens or visible(text) <= covered


@pytest.mark.parametrize("text", HARD)
def test_tokens_cover_whatever_can_be_seen_of_an_answer(tokenizer, pair_of, text):
    pair = with_text(pair_of("1", "x"), text)
    encoded = encode_pair(tokenizer, pair, 512)
    assert encoded.tokens
    check_offsets(encoded, text)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(st.one_of(st.sampled_from("ae\u0301\u0323 \n.[]\u200b\u2028😀ﬁ한"),
                              st.characters(exclude_categories=["Cs"])), max_size=40))  # fmt: skip
def test_tokens_of_any_answer_lie_in_it(tokenizer, pair_of, text):
    encoded = encode_pair(tokenizer, with_text(pair_of("1", "x"), text), 4096)
    check_offsets(encoded, text)


def test_what_looks_like_a_special_token_is_text(tokenizer, pair_of):
    pair = with_text(pair_of("1", "x", source="A [SEP] b. [PAD]"), "one [SEP] two [PAD]")
    encoded = encode_pair(tokenizer, pair, 512)
    ids = encoded.columns["input_ids"].tolist()
    assert ids.count(tokenizer.sep_token_id) == 2
    assert tokenizer.pad_token_id not in ids
    special = {tokenizer.cls_token_id, tokenizer.sep_token_id, tokenizer.mask_token_id}
    assert special.isdisjoint(ids[token.position] for token in encoded.tokens)


def test_an_accent_belongs_to_the_letter_before_it(modernbert, pair_of, make_job):
    tokenizer = load_tokenizer(make_job(base=modernbert))
    encoded = encode_pair(tokenizer, with_text(pair_of("1", "x"), "cafe\u0301 at"), 512)
    assert {token.end for token in encoded.tokens if token.start == 3} == {5}


def test_the_context_has_task_question_and_source_and_no_label(tokenizer, pair_of):
    pair = pair_of("1", "The library [opens].", source="The library closes.")
    encoded = encode_pair(tokenizer, pair, 512)
    ids = encoded.columns["input_ids"].tolist()
    end = ids.index(tokenizer.sep_token_id)
    context = tokenizer(
        "Task: QA\nQuestion: When does the library open?\nSource:\nThe library closes."
    )
    assert ids[: end + 1] == context["input_ids"]
    labels = label_tokens(encoded, pair.response)
    assert set(labels[: end + 1]) == {-100}
    assert labels[-1] == -100
    assert 1 in labels


def test_a_source_without_question_has_no_line_for_one(tokenizer, pair_of):
    pair = pair_of("1", "The library opens.", question=None)
    without = encode_pair(tokenizer, pair, 512)
    assert without.length < encode_pair(tokenizer, pair_of("1", "The library opens."), 512).length


def test_fields_are_a_source_too(tokenizer, pair_of):
    pair = pair_of("1", "It opens at nine.")
    fields = Source(source_id="s", task_type="Data2txt", fields={"name": "Library", "open": "nine"})
    encoded = encode_pair(tokenizer, Pair(pair.response, fields), 512)
    assert encoded.n_left_out == 0
    check_offsets(encoded, pair.response.text)


def test_a_long_source_loses_its_last_sentences_and_nothing_else(tokenizer, pair_of):
    sentence = "The library opens at nine."
    whole = encode_pair(tokenizer, pair_of("1", "It opens.", source=f"{sentence} " * 3), 512)
    assert whole.n_left_out == 0
    limit = whole.length + 8
    long = pair_of("1", "It opens.", source=" ".join([sentence] * 50))
    short = encode_pair(tokenizer, long, limit)
    assert short.length <= limit
    assert short.n_left_out > 40
    kept = [sentence] * (50 - short.n_left_out)
    shown = pair_of("1", "It opens.", source=" ".join([*kept, LEFT_OUT]))
    same = encode_pair(tokenizer, shown, 512)
    assert short.columns["input_ids"].tolist() == same.columns["input_ids"].tolist()
    assert short.tokens == same.tokens


def test_an_answer_that_does_not_fit_beside_one_sentence_is_not_encoded(tokenizer, pair_of):
    assert encode_pair(tokenizer, pair_of("1", "It opens at nine. " * 60), 128) is None


@pytest.mark.parametrize("text", ["", "   ", "\n\n\t"])
def test_an_answer_of_white_space_has_no_tokens(tokenizer, pair_of, text):
    assert encode_pair(tokenizer, with_text(pair_of("1", "x"), text), 512).tokens == ()
