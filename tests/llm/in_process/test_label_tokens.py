"""Label forms and their tokens; the tokenizer is a stand-in."""

import pytest

from ragmend.errors import ConfigError
from ragmend.llm.in_process.label_tokens import label_tokens
from ragmend.llm.labels import LABEL_FORMS


class Tokenizer:
    all_special_ids = [0, 1]
    unk_token_id = 0

    def __init__(self, tokens):
        self.tokens = tokens

    def encode(self, text, *, add_special_tokens):
        assert not add_special_tokens
        return self.tokens.get(text, [90, 91])


def labels_of(tokens, forms=LABEL_FORMS):
    return label_tokens(Tokenizer(tokens), forms, model="org/tiny")


def test_forms_of_several_tokens_are_left_out():
    assert labels_of({"Yes": [5], "No": [6], " Yes": [7, 8]}) == {"Yes": 5, "No": 6}


def test_a_token_that_two_forms_share_is_counted_once():
    tokens = {"Yes": [5], " Yes": [5], "No": [6], " No": [6], "yes": [7]}
    assert labels_of(tokens) == {"Yes": 5, "yes": 7, "No": 6}


def test_the_unknown_token_is_no_label():
    with pytest.raises(ConfigError, match=r"none of 'Yes'.* is one token"):
        labels_of({"Yes": [0], "No": [6]})


def test_a_model_without_a_token_for_no_is_refused():
    with pytest.raises(ConfigError, match="org/tiny: none of 'No', ' No', 'no'"):
        labels_of({"Yes": [5]})


def test_a_model_that_is_not_asked_for_labels_needs_none():
    assert labels_of({}, forms=()) == {}
