"""What stands between claims: lines, list markers, brackets and quotes around several claims."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ragmend.records import Action, Claim

# Marks that open and close around claims; a mark goes when its partner or its content goes.
OPENERS = {"(": ")", "[": "]", "{": "}", "“": "”", "«": "»", "‘": "’", "（": "）", "「": "」"}
_LINE_END = re.compile(r"\r\n|[\n\r\v\f\x85\u2028\u2029]")
TWINS = ("**", "__", "`", '"', "*", "_", "~~")


class AnswerLine(NamedTuple):
    """One line of an answer: `gaps` has one more element than `claims` (indices)."""

    gaps: tuple[str, ...]
    claims: tuple[int, ...]
    ending: str


def answer_lines(answer: str, claims: Sequence[Claim]) -> list[AnswerLine]:
    """Cut an answer into lines at the line ends that lie between claims.

    A line end inside a claim (a soft wrap) does not cut: that claim stays on one line.
    """
    lines: list[AnswerLine] = []
    gaps: list[str] = []
    indices: list[int] = []
    for index, gap in enumerate(_gap_texts(answer, claims)):
        head, *rest = _cut(gap)
        gaps.append(head[0])
        for part, (_, ending) in zip(rest, [head, *rest], strict=False):
            lines.append(AnswerLine(tuple(gaps), tuple(indices), ending))
            gaps, indices = [part[0]], []
        if index < len(claims):
            indices.append(index)
    lines.append(AnswerLine(tuple(gaps), tuple(indices), ""))
    return lines


def join_line(line: AnswerLine, claims: Sequence[Claim], actions: Sequence[Action]) -> str | None:
    """Return what is left of a line; None when all that it said is gone."""
    if not line.claims:
        return line.gaps[0]
    survivors = [n for n, index in enumerate(line.claims) if actions[index].kind != "drop"]
    if not survivors:
        return None
    gaps = _balanced(line, survivors)
    text = _edge(gaps[: survivors[0] + 1], at_start=True)
    for n, following in zip(survivors, [*survivors[1:], None], strict=True):
        text += actions[line.claims[n]].text
        if following is None:
            text += _edge(gaps[n + 1 :], at_start=False)
        else:
            text += _junction(line, gaps, n, following, claims, actions)
    return text


def _gap_texts(answer: str, claims: Sequence[Claim]) -> Iterator[str]:
    end = 0
    for claim in claims:
        yield answer[end : claim.start]
        end = claim.end
    yield answer[end:]


def _cut(gap: str) -> list[tuple[str, str]]:
    """Cut a gap at its line ends into (text, line end) pairs; the last has no line end."""
    parts: list[tuple[str, str]] = []
    start = 0
    for ending in _LINE_END.finditer(gap):
        parts.append((gap[start : ending.start()], ending.group()))
        start = ending.end()
    parts.append((gap[start:], ""))
    return parts


def _balanced(line: AnswerLine, survivors: Sequence[int]) -> list[str]:
    """Take out pairs of marks around claims that are all gone."""
    alive = set(survivors)
    doomed: set[tuple[int, int]] = set()
    stack: list[tuple[str, int, int]] = []
    for n, gap in enumerate(line.gaps):
        for offset, mark in _marks(gap, is_first=n == 0):
            if stack and stack[-1][0] == mark:
                _, opened_at, opened_offset = stack.pop()
                if not alive.intersection(range(opened_at, n)):
                    doomed |= {(opened_at, opened_offset + i) for i in range(len(mark))}
                    doomed |= {(n, offset + i) for i in range(len(mark))}
            elif mark in OPENERS:
                stack.append((OPENERS[mark], n, offset))
            elif mark in TWINS:
                stack.append((mark, n, offset))
    return [
        "".join(character for i, character in enumerate(gap) if (n, i) not in doomed)
        for n, gap in enumerate(line.gaps)
    ]


def _marks(gap: str, *, is_first: bool) -> Iterator[tuple[int, str]]:
    position = 0
    while position < len(gap):
        twin = next((twin for twin in TWINS if gap.startswith(twin, position)), None)
        # A lone star before a space at the start of a line is a bullet, not emphasis.
        is_bullet = is_first and twin in ("*", "_") and gap[position + 1 : position + 2] == " "
        if twin is not None and not is_bullet:
            yield position, twin
            position += len(twin)
            continue
        if gap[position] in OPENERS or gap[position] in OPENERS.values():
            yield position, gap[position]
        position += 1


def _edge(gaps: Sequence[str], *, at_start: bool) -> str:
    """Return what stands before the first or behind the last survivor of a line."""
    own, *others = gaps if at_start else reversed(gaps)
    if at_start:
        return own + "".join(_only_marks(gap) for gap in others)
    if not others:
        return own
    inner = "".join(_only_marks(gap) for gap in reversed(others))
    return inner + own.lstrip(" ,;:–—-")


def _junction(
    line: AnswerLine,
    gaps: Sequence[str],
    left: int,
    right: int,
    claims: Sequence[Claim],
    actions: Sequence[Action],
) -> str:
    """Return the gap between two survivors of a line."""
    between = gaps[left + 1 : right + 1]
    first, second = claims[line.claims[left]], claims[line.claims[right]]
    same_sentence = first.claim_id.rpartition("-c")[0] == second.claim_id.rpartition("-c")[0]
    separated = _was_separated(actions[line.claims[left]], actions[line.claims[right]])
    if same_sentence and not separated:
        return between[-1]
    if len(between) == 1 and not same_sentence:
        return between[0]
    marks = "".join(_only_marks(gap) for gap in between)
    space = " " if any(character.isspace() for gap in between for character in gap) else ""
    closing = "".join(mark for mark in marks if mark in OPENERS.values())
    opening = "".join(mark for mark in marks if mark not in OPENERS.values())
    return closing + space + opening


def _was_separated(left: Action, right: Action) -> bool:
    """Tell whether two clauses of one sentence became sentences of their own."""
    replaced = {"substitute", "rewrite"}.intersection((left.kind, right.kind))
    edits = {"add_stop"}.intersection(left.edits) | {"strip_coordinator"}.intersection(right.edits)
    return bool(replaced or edits)


def _only_marks(gap: str) -> str:
    return "".join(gap[offset : offset + len(mark)] for offset, mark in _marks(gap, is_first=False))
