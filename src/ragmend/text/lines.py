"""Lines of a text, and the characters by which lines and sentences end.

Line ends are all that Unicode knows; a carriage return and line feed are one. Characters that
show nothing (zero width, byte order mark, directions, controls) are `INVISIBLE`: they hide no
stop and no list marker.
"""

import re

STOPS = ".!?…。！？｡؟۔।॥"
"""What ends a sentence."""

UNSPACED_STOPS = "。！？｡؟۔।॥"
"""What ends one even where the next follows without a space."""

CLOSING = "\"'”’»)\\]}*_`」』）】》〉"
"""Quotes, brackets and markup behind a stop, for use in a character class."""

INVISIBLE = (
    "\\x00-\\x08\\x0e-\\x1b\\x7f-\\x84\\x86-\\x9f\\u00ad\\u200b-\\u200f\\u202a-\\u202e"
    "\\u2060-\\u2064\\u2066-\\u2069\\ufeff"
)
"""Controls that are no white space, and format characters, for use in a character class."""

_LINE = re.compile(r"[^\n\r\v\f\x85\u2028\u2029]+")
_LINE_BREAK = re.compile(r"\r\n|[\n\r\v\f\x85\u2028\u2029]")
_ENDS_LINE = re.compile(rf"[{STOPS}:：][{CLOSING}{INVISIBLE}]*\Z")
_WRAPS_ON = re.compile(r"\s*[\"'“‘(\[*_`]{0,3}(?![a-z][.)]\s)([^\W\d_])")
_WINDOW = 40


def line_spans(text: str) -> list[tuple[int, int]]:
    """Return the spans of the lines that are not blank, without white space at their ends."""
    spans = []
    for line in _LINE.finditer(text):
        content = line.group().rstrip()
        if content:
            spans.append((line.start(), line.start() + len(content)))
    return spans


def follows_directly(text: str, end: int, start: int) -> bool:
    """Whether a line that starts at `start` stands right below one that ends at `end`."""
    return start - end < _WINDOW and len(_LINE_BREAK.findall(text, end, start)) == 1


def is_soft_wrap(before: str, after: str) -> bool:
    """Whether two lines are one text: no stop or colon ends the first, lower case goes on."""
    match = _WRAPS_ON.match(after)
    return match is not None and match[1].islower() and not ends_line(before)


def ends_line(line: str) -> bool:
    """Whether a line ends in a stop or a colon, quotes, brackets and markup put aside."""
    return _ENDS_LINE.search(line) is not None
