import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmend.text.content import needs_support, supportable_stems
from ragmend.text.words import (
    content_stems,
    fold,
    is_negation,
    normalise,
    stem,
    words,
)


@given(st.text())
def test_every_word_is_an_exact_span_and_none_overlap(text):
    found = words(text)
    position = 0
    for word in found:
        assert position <= word.start < word.end <= len(text)
        assert normalise(text[word.start : word.end]) == word.norm
        position = word.end


@given(st.text())
def test_folding_never_moves_an_offset(text):
    assert len(fold(text)) == len(text)


@given(st.text(alphabet=st.characters(categories=["Ll", "Lu"]), min_size=1))
def test_stemming_never_lengthens_a_word_and_never_empties_it(word):
    norm = normalise(word)
    assert 0 < len(stem(norm)) <= len(norm)


def test_a_combining_accent_and_an_astral_letter_stay_in_their_word():
    text = "Cafe\u0301 𝐁old"
    assert [text[w.start : w.end] for w in words(text)] == ["Cafe\u0301", "𝐁old"]
    assert [w.norm for w in words(text)] == ["café", "bold"]


def test_ligatures_and_full_width_letters_compare_equal_to_plain_ones():
    assert [w.norm for w in words("\ufb01ne \uff37\uff29\uff26\uff29")] == ["fine", "wifi"]


def test_a_possessive_is_dropped_and_a_contraction_kept():
    assert [w.norm for w in words("Tinker’s don’t")] == ["tinker", "don't"]


def test_a_decimal_an_amount_and_a_time_are_one_word_each():
    assert [w.norm for w in words("3.5, 1,600 and 9:30.")] == ["3.5", "1,600", "and", "9:30"]


def test_wifi_is_one_word_however_it_is_written():
    assert {w.norm for w in words("WiFi Wi-Fi wi-fi wifi")} == {"wifi"}


@pytest.mark.parametrize(
    "family",
    [
        ("stop", "stops", "stopped", "stopping"),
        ("price", "prices", "priced", "pricing"),
        ("city", "cities"),
        ("carry", "carries", "carried", "carrying"),
        ("dish", "dishes"),
        ("quick", "quickly"),
    ],
)
def test_the_inflections_of_a_word_share_a_stem(family):
    assert len({stem(word) for word in family}) == 1


@pytest.mark.parametrize(
    ("one", "other"), [("organ", "organization"), ("police", "policy"), ("universe", "university")]
)
def test_different_words_keep_different_stems(one, other):
    assert stem(one) != stem(other)


@pytest.mark.parametrize("word", ["not", "no", "without", "doesn't", "isn't"])
def test_negations_are_known(word):
    assert is_negation(word)


def test_content_leaves_out_stop_words_negations_and_lone_letters():
    assert content_stems(words("It does not serve a B breakfast")) == ["serv", "breakfast"]


def test_support_is_asked_for_neither_talk_about_the_source_nor_numbers():
    text = "According to passage 2, reviewers praised three burgers for 9 dollars"
    assert supportable_stems(words(text)) == ["burger", "dollar"]


@given(st.text())
def test_asking_for_support_never_raises(text):
    assert all(needs_support(word) in (True, False) for word in words(text))
