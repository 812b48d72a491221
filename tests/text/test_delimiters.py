"""Pairs of brackets, quotes and inline markdown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmend.text.delimiters import mark_at, mark_partners, paired_marks


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("a (b [c] d) e", ["(b [c] d)", "[c]"]),
        ('he said "no" and “yes”', ['"no"', "“yes”"]),
        ("**a** and *b* and `c` and ~~d~~", ["**a**", "*b*", "`c`", "~~d~~"]),
        ("***both*** _x_ __y__", ["***both***", "_x_", "__y__"]),
        ('2 * 3 * 4, snake_case_name, a 24" tv', []),
        ("bad :( but (good) :)", ["(good)"]),
        ("(never closed, never) opened)", ["(never closed, never)"]),
        ("(a [b) c]", ["(a [b)"]),
        ("```\ncode `x`\n```", ["```\ncode `x`\n```", "`x`"]),
        ("don't and 'tis", []),
        ("‘no’ and 'nope' and it's", ["‘no’", "'nope'"]),
        ("'It is the dogs' bowl.' So", ["'It is the dogs' bowl.'"]),
        ("the '90s, 'em and goin' home", []),
        ("„ja“ «oui» 「はい」（いいえ）", ["„ja“", "«oui»", "「はい」", "（いいえ）"]),
        ("彼は「はい」と", ["「はい」"]),
        ("~~~\nx\n~~~", ["~~~\nx\n~~~"]),
    ],
)
def test_marks_pair_when_they_belong_together(text, pairs):
    found = [text[start:end] for start, end in sorted(paired_marks(text).items())]
    assert found == pairs


@given(st.text(alphabet='()[]"*_`~“” a\n'))
def test_pairs_are_nested_and_end_in_the_partner(text):
    spans = sorted(paired_marks(text).items())
    for start, end in spans:
        assert 0 <= start < end <= len(text)
        for other, other_end in spans:
            assert not start < other < end < other_end


@given(st.text(alphabet="()[]\"*_`~“”‘’'「」 as\n"))
def test_partners_are_mutual_and_each_starts_a_mark(text):
    partners = mark_partners(text)
    assert all(partners[partners[at]] == at for at in partners)
    assert all(mark_at(text, at) for at in partners)


def test_no_mark_starts_in_a_word():
    with pytest.raises(ValueError, match="no mark starts at offset 1"):
        mark_at("don't", 1)
