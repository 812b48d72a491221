"""Which conditions are compared with which, and which comparisons are one family."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import NamedTuple

from ragmend.analysis.settings import PAPER_CONTRASTS, Contrast, Settings
from ragmend.errors import StatisticsError
from ragmend.records import CONDITIONS

ORIGINAL = "original"


class Design(NamedTuple):
    """What a label table allows to compare."""

    conditions: tuple[str, ...]
    """In table order: the reference first, then the paper's in its order, then by name."""
    reference: str | None
    """The condition of the untouched answers, on which gold holds; None: unknown."""
    contrasts: tuple[Contrast, ...]
    """Primary ones first; empty: nothing can be compared."""
    reason: str
    """How the primary family came about, for the notes."""


def label_design(found: Iterable[str], settings: Settings) -> Design:
    """Decide which conditions of a label table are compared, and which are primary.

    The family is the one given; else the paper's five where its four conditions are the
    table's; else the reference against each other condition. Every remaining pair is
    exploratory. The reference is the one given, else `original`, else the only condition.
    Without reference and family nothing is compared.

    Args:
        found: The conditions that occur.
        settings: The conditions expected, the reference and the family, each if given.

    Raises:
        StatisticsError: A condition, the reference or a part of the family is unknown, or the
            name of a contrast can be read in two ways.
    """
    # A condition that occurs but is not expected is the label cube's to refuse, with its row.
    conditions = settings.conditions or tuple(sorted(set(found)))
    if "" in conditions:
        raise StatisticsError("labels: the name of a condition is missing")
    reference = _reference(conditions, settings.reference)
    ordered = _in_order(conditions, reference)
    if len(ordered) == 1:
        return Design(ordered, reference, (), "one condition only: nothing is compared")
    if settings.family:
        primary = [parse_contrast(name, ordered) for name in settings.family]
        reason = "primary contrasts: as given"
    elif reference == ORIGINAL and set(ordered) == set(CONDITIONS):
        primary = [(c.a, c.b) for c in PAPER_CONTRASTS if c.family == "primary"]
        reason = "primary contrasts: the paper's five"
    elif reference is not None:
        primary = [(reference, other) for other in ordered if other != reference]
        reason = f"primary contrasts: {reference} against each other condition"
    else:
        return Design(
            ordered,
            None,
            (),
            "no reference condition is named (reference, family): nothing is compared",
        )
    _refuse_repeated(primary)
    contrasts = _with_exploratory(primary, ordered)
    _refuse_one_name(contrasts)
    return Design(ordered, reference, contrasts, reason)


def parse_contrast(name: str, conditions: Sequence[str]) -> tuple[str, str]:
    """Split the name of a contrast, `a-b` or `a:b`, where both halves are known conditions.

    Raises:
        StatisticsError: No way of splitting it gives two known conditions, or several do.
    """
    ways = [
        (name[:i], name[i + 1 :])
        for i, sign in enumerate(name)
        if sign in "-:" and name[:i] in conditions and name[i + 1 :] in conditions
    ]
    if len(ways) != 1:
        known = f"known conditions: {', '.join(conditions)}"
        if ways:
            readings = " or ".join(f"{a!r} against {b!r}" for a, b in ways)
            raise StatisticsError(
                f"contrast {name!r} can be read as {readings}; name the conditions apart; {known}"
            )
        raise StatisticsError(f"contrast {name!r}: expected CONDITION-CONDITION; {known}")
    a, b = ways[0]
    if a == b:
        raise StatisticsError(f"contrast {name!r} compares a condition with itself")
    return a, b


def _reference(conditions: Sequence[str], given: str | None) -> str | None:
    if given is None:
        if len(conditions) == 1:
            return conditions[0]
        return ORIGINAL if ORIGINAL in conditions else None
    if given not in conditions:
        raise StatisticsError(
            f"reference condition {given!r} does not occur; there are {', '.join(conditions)}"
        )
    return given


def _in_order(conditions: Iterable[str], reference: str | None) -> tuple[str, ...]:
    place: dict[str, int] = {condition: i for i, condition in enumerate(CONDITIONS)}
    last = len(place)
    return tuple(sorted(conditions, key=lambda c: (c != reference, place.get(c, last), c)))


def _refuse_repeated(pairs: Sequence[tuple[str, str]]) -> None:
    seen: set[frozenset[str]] = set()
    for a, b in pairs:
        if frozenset((a, b)) in seen:
            raise StatisticsError(f"contrast {a}-{b} is given more than once")
        seen.add(frozenset((a, b)))


def _refuse_one_name(contrasts: Sequence[Contrast]) -> None:
    """Refuse two contrasts that no table could tell apart, as `a` with `b-c` and `a-b` with `c`."""
    named: dict[str, Contrast] = {}
    for contrast in contrasts:
        other = named.setdefault(contrast.name, contrast)
        if other is not contrast:
            raise StatisticsError(
                f"{contrast.name!r} would name two contrasts, {other.a!r} with {other.b!r} and "
                f"{contrast.a!r} with {contrast.b!r}; rename a condition"
            )


def _with_exploratory(
    primary: Sequence[tuple[str, str]], conditions: Sequence[str]
) -> tuple[Contrast, ...]:
    named = {frozenset(pair) for pair in primary}
    rest = [pair for pair in combinations(conditions, 2) if frozenset(pair) not in named]
    return (
        *(Contrast(a=a, b=b, family="primary") for a, b in primary),
        *(Contrast(a=a, b=b, family="exploratory") for a, b in rest),
    )
