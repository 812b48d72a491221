"""A plain seeded mutator: valid inputs, broken in the ways in which files and texts break."""

import json
import random

TOKENS = [
    token.encode("utf-8", "surrogatepass")
    for token in (
        "NaN", "-Infinity", "1e999", "-1", "0.5", "1" * 40, "true", "null", '""', '"', "'", "[]",
        "{}", "{", "}", "[", "]", ",", ":", "=", "\\", "\n", "\r", "\t", "\0", "\x1f", "\u2028",
        "\u0085", "\u00a0", "\u200d", "\u202e", "\u0301", "\ufeff", "\ud800", "😀", "é", "ß", "ﬁ",
        "１", "²", "½", "誰？", "，",
        "\\ud800", "\\udc00\\ud800", "\\u0000", '"id": 1, ', ".", "..",
        "…", "?!", ". ", ") ", "(", "1. ", "a) ", "- ", "* ", "# ", "| ", "|---|\n", "```\n", "**",
        "\n\n", "    ", "$3.5 million", "U.S.", "e.g.", "9:0-22:30", "passage 1:", "“", "”", "—",
    )
] + [b"\xff", b"\xc3", b"\xe2\x80", b"\x1f\x8b"]  # fmt: skip
HUGE = [b"9" * 5000, b"[" * 3000, b'{"a":' * 1500, b"a." * 3000, b'"' + b"\\u00e4" * 300 + b'"']
VALUES = (
    None, True, False, 0, -1, 1, 2**31, 2**63, 10**30, 0.5, -0.0, 1e308, 1.5, "", " ", "x", "\0",
    "\u2028", "\ud800", "😀", "1", "NaN", [], [[]], {}, {"": None}, [None], "9" * 4400,
)  # fmt: skip


def mutate(seed_input: bytes, draw: random.Random) -> bytes:
    """Return an input with one to three things changed."""
    content = seed_input
    for _ in range(draw.choice((1, 1, 2, 3))):
        content = draw.choice(CHANGES)(content, draw)
    return content


def mutate_text(seed_text: str, draw: random.Random) -> str:
    """Return a text with one to three things changed; it may hold lone surrogates."""
    return mutate(seed_text.encode(), draw).decode("utf-8", "replace")


def _place(content, draw):
    return draw.randrange(len(content) + 1)


def _flip(content, draw):
    if not content:
        return b"\xff"
    at = draw.randrange(len(content))
    return content[:at] + bytes([content[at] ^ (1 << draw.randrange(8))]) + content[at + 1 :]


def _cut_end(content, draw):
    return content[: _place(content, draw)]


def _cut_out(content, draw):
    start, end = sorted((_place(content, draw), _place(content, draw)))
    return content[:start] + content[min(end, start + draw.choice((1, 5, 1000))) :]


def _repeat(content, draw):
    start, end = sorted((_place(content, draw), _place(content, draw)))
    return content[:end] + content[start:end][:500] + content[end:]


def _insert(content, draw):
    token = draw.choice(HUGE if draw.random() < 0.02 else TOKENS)
    at = _place(content, draw)
    return content[:at] + token + content[at:]


def _overwrite(content, draw):
    token, at = draw.choice(TOKENS), _place(content, draw)
    return content[:at] + token + content[at + len(token) :]


def _swap_halves(content, draw):
    at = _place(content, draw)
    return content[at:] + content[:at]


def _change_json(content, draw):
    """Change one value, key or item of one line's JSON; the text stays well formed."""
    lines = content.split(b"\n")
    at = draw.randrange(len(lines))
    try:
        value = json.loads(lines[at])
    except (ValueError, RecursionError):
        return _insert(content, draw)
    lines[at] = json.dumps(change_value(value, draw)).encode()
    return b"\n".join(lines)


def change_value(value, draw):
    """Return a value with one value, key or item in it changed, however deep."""
    if isinstance(value, dict) and value and draw.random() < 0.9:
        key = draw.choice(list(value))
        what = draw.random()
        if what < 0.6:
            return {**value, key: change_value(value[key], draw)}
        without = {name: item for name, item in value.items() if name != key}
        if what < 0.75:
            return without
        if what < 0.9:
            return {**without, draw.choice(("", "x", key.upper(), key[:-1])): value[key]}
        return {**value, "unknown": draw.choice(VALUES)}
    if isinstance(value, list) and value and draw.random() < 0.7:
        at = draw.randrange(len(value))
        changed = change_value(value[at], draw)
        return [*value[:at], *draw.choice(([], [changed], [changed, changed])), *value[at + 1 :]]
    return draw.choice(VALUES)


CHANGES = (
    _flip,
    _cut_end,
    _cut_out,
    _repeat,
    _insert,
    _insert,
    _overwrite,
    _swap_halves,
    _change_json,
    _change_json,
)
