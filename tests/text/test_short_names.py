import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmend.text.short_names import read_abbreviations, short_names
from ragmend.text.words import words


def letters(text):
    return [(short.letters, short.following) for short in short_names(text)]


def read(text):
    return read_abbreviations([(text, words(text))])


@given(st.text(alphabet="ABJK. Rowlingus\n’"))
def test_short_names_are_exact_spans_and_state_themselves(text):
    for short in short_names(text):
        spelled = text[short.start : short.end].replace(".", "").replace(" ", "")
        assert spelled.lower() == short.letters
        assert read(text).state(short)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("J. K. Rowling", [("jk", "rowl")]),
        ("J.K. Rowling", [("jk", "rowl")]),
        ("the U.S. Senate", [("us", "senat")]),
        ("R.I.C.E. R.I.C.E is", [("rice", ""), ("rice", "")]),
        ("the WHO and the US say", [("who", ""), ("us", "")]),
    ],
)
def test_initials_and_acronyms_are_read(text, found):
    assert letters(text) == found


@pytest.mark.parametrize(
    "text",
    ["vitamin C. The rest", "at 9 A.M. today", "CALL US NOW PLEASE", "who told us", "e.g. so"],
)
def test_lone_letters_and_pronouns_are_no_names(text):
    assert letters(text) == []


def test_a_name_in_full_gives_its_initials_and_acronyms():
    abbreviations = read("We met Joanne Kathleen Rowling of the Department of Justice.")
    assert {"jk", "doj", "dj"} <= abbreviations.acronyms
    assert {("j", "kathleen"), ("jk", "rowl"), ("k", "rowl")} <= abbreviations.before
    assert "j" not in abbreviations.acronyms
