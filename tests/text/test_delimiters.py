"""Pairs of brackets, quotes and inline markdown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmend.text.delimiters import paired_marks


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
