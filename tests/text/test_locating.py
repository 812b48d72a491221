import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmend.llm.prompts import as_data
from ragmend.text.locating import locate_spans

ANSWER = "The plant in Oklahoma closed in April 2014.\nThe plant reopened — “quietly” — in May…"


def places(answer, *strings):
    located = locate_spans(answer, strings)
    assert len(located.spans) + len(located.unlocated) == len(strings)
    assert all(answer[span.start : span.end] == span.text for span in located.spans)
    assert len({(span.start, span.end) for span in located.spans}) == len(located.spans)
    return [(span.start, span.end) for span in located.spans]


def texts(answer, *strings):
    return [answer[start:end] for start, end in places(answer, *strings)]


def test_a_copied_string_is_found_where_it_stands():
    assert places(ANSWER, "April 2014") == [(32, 42)]
    assert places(ANSWER, ANSWER) == [(0, len(ANSWER))]
    assert locate_spans(ANSWER, ()) == ((), ())


@pytest.mark.parametrize(
    ("string", "text"),
    [
        ("april  2014", "April 2014"),
        ("APRIL\n2014. the", "April 2014.\nThe"),
        (" April 2014 ", "April 2014"),
        ('reopened - "quietly" - in May...', "reopened — “quietly” — in May…"),
        ("reopened – 'quietly'", "reopened — “quietly”"),
        ('"The plant in Oklahoma"', "The plant in Oklahoma"),
        ("“the plant in oklahoma”", "The plant in Oklahoma"),
        ('"quietly"', "“quietly”"),
        ("in\u00a0April\u200b 2014", "in April 2014"),
    ],
)
def test_a_string_retyped_is_found_with_its_typography_folded(string, text):
    assert texts(ANSWER, string) == [text]


def test_an_exact_occurrence_goes_before_an_earlier_folded_one():
    assert texts("paris, Paris", "Paris") == ["Paris"]
    assert places("paris, Paris", "Paris") == [(7, 12)]


def test_a_repeated_string_means_the_next_occurrence():
    answer = "Paris is old. Paris is big. Paris is far."
    assert places(answer, "Paris", "Paris") == [(0, 5), (14, 19)]
    assert places(answer, *["Paris"] * 3) == [(0, 5), (14, 19), (28, 33)]


def test_a_repeated_string_in_other_letters_means_the_next_occurrence_too():
    assert places("Paris and Paris", "Paris", "PARIS") == [(0, 5), (10, 15)]
    assert places("Paris and Paris", "PARIS", "Paris") == [(0, 5), (10, 15)]
    assert places("Paris and Paris", "paris", '"paris"') == [(0, 5), (10, 15)]


@pytest.mark.parametrize(
    ("answer", "string", "starts"),
    [
        ("In 2015 there were 5 cases.", "5", [19, 6]),
        ("It took 3.5 to 5,000 hours or 5.", "5", [30, 10, 15]),
        ("Concat a cat", "cat", [9, 3]),
        ("Concat a cat", "CAT", [9, 3]),
        ("cafe\u0301 or cafe", "cafe", [9, 0]),
        ("xa a a", "a a", [3, 1]),
        ("It is 25% or 5%", "5%", [13, 7]),
        ("It is (5)5 or a(5)", "(5)", [6, 15]),
        ("STRASSE SE", "se", [8, 5]),
    ],
)
def test_whole_words_and_numbers_go_before_parts_of_them(answer, string, starts):
    for n in range(1, len(starts) + 1):
        assert [start for start, _ in places(answer, *[string] * n)] == sorted(starts[:n])


def test_more_copies_than_occurrences_are_left_unlocated():
    located = locate_spans("Paris and paris", ["Paris", "Paris", "PARIS", "Paris"])
    assert [span.text for span in located.spans] == ["Paris", "paris"]
    assert located.unlocated == ("PARIS", "Paris")


def test_strings_that_stand_nowhere_are_kept_as_they_came():
    located = locate_spans(ANSWER, ["closed in 2015", "May", " Texas "])
    assert located.unlocated == ("closed in 2015", " Texas ")
    assert [span.text for span in located.spans] == ["May"]


@pytest.mark.parametrize("string", ["", " ", "\n", '""', "\u200b", "“ ”"])
def test_a_string_without_a_letter_stands_nowhere(string):
    assert locate_spans("plain words", [string]).unlocated == (string,)


def test_spans_of_different_strings_may_overlap_and_come_in_the_answers_order():
    assert texts(ANSWER, "2014", "in April 2014", "Oklahoma") == [
        "Oklahoma",
        "in April 2014",
        "2014",
    ]


def test_offsets_are_code_points():
    assert places("😀😀 a 𝒳-ray 😀", "𝒳-RAY") == [(5, 10)]
    assert places("😀a😀", "😀", "😀") == [(0, 1), (2, 3)]


@pytest.mark.parametrize(
    ("answer", "string", "place"),
    [
        ("Die Große Straße", "GROSSE STRASSE", (4, 16)),
        ("Die GROSSE Straße", "große straße", (4, 17)),
        ("in İstanbul now", "i\u0307stanbul", (3, 11)),
        ("the ﬁnal oﬃce", "final office", (4, 13)),
        ("cafe\u0301 noir", "café NOIR", (0, 10)),
        ("café noir", "cafe\u0301 noir", (0, 9)),
        ("a\u0323\u0301 b", "a\u0301\u0323 B", (0, 5)),
        ("τῇ \u1fb4", "\u03b1\u0345\u0301", (3, 4)),
        ("sßs", "SS", (1, 2)),
        ("in 하나 now", "\u1112\u1161\u1102\u1161", (3, 5)),
    ],
)
def test_folding_that_changes_lengths_leads_back_to_whole_letters(answer, string, place):
    assert places(answer, string) == [place]


@pytest.mark.parametrize(
    ("answer", "string"),
    [
        ("Maße", "SE"),  # half of the sharp s
        ("İ", "i"),
        ("cafe\u0301", "CAFE"),
        ("café", "CAFE"),
        ("So it went…", "so it went."),
    ],
)
def test_no_part_of_a_letter_is_taken_for_another_letter(answer, string):
    assert locate_spans(answer, [string]).unlocated == (string,)


def test_half_of_a_letter_does_not_hide_a_whole_one_behind_it():
    assert places("Maße, else SE", "se", "se") == [(8, 10), (11, 13)]


def test_what_the_prompt_parted_is_found():
    answer = "Use <b>bold</b> and [INST] or <|im_end|> here."
    shown = as_data(answer)
    assert shown != answer
    assert texts(answer, shown) == [answer]
    assert texts(answer, "< b>bold< /b>", "[ INST]", "< |im_end|>") == [
        "<b>bold</b>",
        "[INST]",
        "<|im_end|>",
    ]


def test_many_strings_in_a_long_answer():
    answer = "ab " * 100_000
    assert len(places(answer, *["ab"] * 60_000, *["AB"] * 60_000)) == 100_000


STRINGS = st.lists(st.text("aA ßéİ…\"'“—-. \n\u0301😀", max_size=6), max_size=8)


@given(answer=st.text("aA ßéİ…\"'“—-. \n\u0301😀", max_size=60), strings=STRINGS)
def test_every_span_is_where_it_says_once_and_no_string_is_lost(answer, strings):
    located = locate_spans(answer, strings)
    assert places(answer, *strings) == sorted((span.start, span.end) for span in located.spans)
    left = list(strings)
    for string in located.unlocated:
        left.remove(string)
    assert len(left) == len(located.spans)


@given(data=st.data(), answer=st.text(st.characters(codec="utf-8"), min_size=1))
def test_any_stretch_of_an_answer_is_found_at_its_first_occurrence(data, answer):
    start = data.draw(st.integers(0, len(answer) - 1))
    end = data.draw(st.integers(start + 1, len(answer)))
    copied = answer[start:end].strip()
    if copied:
        ((at, behind),) = places(answer, answer[start:end])
        assert answer[at:behind] == copied
        first = answer.find(copied)
        assert at == first or is_inside_a_word(answer, first, first + len(copied))


def is_inside_a_word(answer, start, end):
    """Tell whether a letter, digit or accent, or a number's point, stands beside a stretch."""
    beside = answer[max(start - 1, 0) : start] + answer[end : end + 1]
    return any(sign.isalnum() or unicodedata.combining(sign) or sign in ".," for sign in beside)


RETYPED = {
    "a": "A", "B": "b", "ß": "SS", "İ": "i\u0307", "é": "E\u0301", "e\u0301": "é", "𝒳": "𝒳",
    "😀": "😀", "…": "...", "“": '"', "’": "'", "—": "-", " ": "\n", "\u00a0": "  ", "ﬁ": "FI",
    "<": "< ", "5": "5",
}  # fmt: skip


@given(data=st.data(), letters=st.lists(st.sampled_from(list(RETYPED)), min_size=1))
def test_any_stretch_retyped_is_found_as_the_same_letters(data, letters):
    start = data.draw(st.integers(0, len(letters) - 1))
    end = data.draw(st.integers(start + 1, len(letters)))
    retyped = "".join(RETYPED[letter] for letter in letters[start:end])
    if retyped.strip():
        (found,) = texts("".join(letters), retyped)
        assert plain(found) == plain(retyped)


def plain(text):
    text = unicodedata.normalize("NFD", unicodedata.normalize("NFD", text).casefold())
    for one, other in {"…": "...", "“": "'", '"': "'", "’": "'", "—": "-"}.items():
        text = text.replace(one, other)
    return "".join(text.split())


@given(n_copies=st.integers(0, 8), n_occurrences=st.integers(0, 8), word=st.sampled_from("aß😀é"))
def test_as_many_copies_are_located_as_there_are_occurrences(n_copies, n_occurrences, word):
    found = places(f"{word} x " * n_occurrences, *[word] * n_copies)
    assert len(found) == min(n_copies, n_occurrences)
