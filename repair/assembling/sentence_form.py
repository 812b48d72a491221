"""How a text begins and ends as a sentence, and where the clauses of one belong together."""

from typing import Protocol

from ragmend.records import ActionKind, Claim

TERMINAL = ".!?…。！？؟۔"
_CLOSING_MARKS = "\"'”’»*_`"
_CLOSING_BRACKETS = ")]"
_OPENING_OF = {")": "(", "]": "["}
_TRAILING = ".,;:!?\"'”’)]"
_LEADING = "\"'“‘«([*_`"
_KEPT_AS_WRITTEN = frozenset("@/:.\\")  # addresses, file names, "e.g."


def sentence_of(claim: Claim) -> str:
    """Return what the clauses of one sentence share: the claim id without its clause."""
    return claim.claim_id.rpartition("-c")[0]


class Acted(Protocol):
    """Anything that says what was done to a claim."""

    @property
    def kind(self) -> ActionKind:
        """What the arm decided."""


def is_replaced(one: Acted) -> bool:
    """Tell whether a new text stands for a claim."""
    return one.kind in ("substitute", "rewrite")


def capitalise(text: str) -> str:
    """Begin a text with a capital, behind leading quotes and markup too.

    A first word that has its own spelling is left alone: "iPhone", "2nd", "https://…", "(a)".
    """
    word = text.split(maxsplit=1)[0] if text.strip() else ""
    core = word.rstrip(_TRAILING).lstrip(_LEADING)
    is_label = len(core) == 1 and word.startswith("(")
    is_special = any(c.isupper() or c.isdigit() or c in _KEPT_AS_WRITTEN for c in core)
    if not core or is_label or is_special or len(core[0].upper()) != 1:
        return text
    position = text.index(core)
    return text[:position] + core[0].upper() + text[position + 1 :]


def ends_with_stop(text: str) -> bool:
    """Tell whether a text ends as a sentence does, or with a colon.

    A stop before closing quotes counts; one inside a bracket counts only where the bracket
    holds the whole text: "in Washington (D.C.)" has no stop of its own.
    """
    rest = text.rstrip()
    while rest and rest[-1] in _CLOSING_MARKS + _CLOSING_BRACKETS:
        if rest[-1] in _CLOSING_BRACKETS:
            opening = rest.rfind(_OPENING_OF[rest[-1]])
            if opening < 0 or rest[:opening].strip(_LEADING):
                return False
        rest = rest[:-1]
    return rest[-1:] in tuple(TERMINAL + ":")
