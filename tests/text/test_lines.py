"""Lines: where they end, and which were merely wrapped."""

import pytest

from ragmend.text.lines import ends_line, follows_directly, is_soft_wrap, line_spans


@pytest.mark.parametrize(
    "text",
    ["a\nb", "a\r\nb", "a\rb", "a\u2028b", "a\u2029b", "a\x85b", "a\x0bb", "a\x0cb", "a \n\n b "],
)
def test_every_line_end_of_unicode_ends_a_line(text):
    assert [text[start:end].strip() for start, end in line_spans(text)] == ["a", "b"]


@pytest.mark.parametrize(
    ("between", "expected"),
    [
        ("\n", True),
        ("\r\n", True),
        (" \r", True),
        ("\n\n", False),
        ("\n\r", False),
        ("\n" * 99, False),
    ],
)
def test_a_line_follows_directly_below_one_line_end(between, expected):
    text = f"a{between}b"
    assert follows_directly(text, 1, len(text) - 1) is expected


@pytest.mark.parametrize(
    "line", ["So.", "So!”", "So:", "そう。", "نعم؟", "है।", "**So.**", "So.\u200b"]
)
def test_a_line_ends_in_a_stop_behind_quotes_markup_and_what_is_invisible(line):
    assert ends_line(line)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("it was", "wrapped here", True),
        ("it was", '"wrapped" here', True),
        ("it was", "Not wrapped", False),
        ("it ended.", "here", False),
        ("it ended.)", "here", False),
        ("like this:", "here", False),
        ("it was", "a) an item", False),
        ("it was", "- an item", False),
        ("it was", "12 o'clock", False),
    ],
)
def test_only_a_line_that_goes_on_in_lower_case_was_wrapped(before, after, expected):
    assert is_soft_wrap(before, after) is expected
