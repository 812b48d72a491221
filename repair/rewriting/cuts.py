"""What a claim can lose and still be a sentence that says no more than before.

The rules are conservative, since a rest that says more than the claim or is no sentence is
worse than none:

- nothing goes behind a negation, a quantifier or a condition: "no student passed in Rome" says
  less than "no student passed";
- what is left has its subject and its verb, and no word that calls for more ("based", "such");
- nothing goes behind the colon of a sentence: "use the shortcut: Select the row" is no whole;
- a prepositional phrase goes only where what happened stands without it: neither behind an
  adjective ("safe for adults") nor out of a habit ("opens on Sundays").
"""

import re
from collections.abc import Iterator
from itertools import chain

from ragmend.repair.rewriting.clause_cuts import lead_cuts, predicate_cuts, predicate_joint
from ragmend.repair.rewriting.cut import Cut
from ragmend.repair.rewriting.ending_cuts import MIN_WORDS, ending_cuts
from ragmend.repair.rewriting.insertion_cuts import insertion_cuts
from ragmend.repair.rewriting.list_cuts import list_cuts
from ragmend.repair.rewriting.syntax import Syntax, read_claim
from ragmend.repair.rewriting.word_cuts import word_cuts
from ragmend.text.verbs import is_finite

_COLON = re.compile(r":(?=\s)")
_ENUMERATOR = re.compile(r"[;:]|\(\d\)")  # "three steps: (1) …, (2) …" must stay together
_HYPHENATED = re.compile(r"\w[-/'’&]\w|[-/'’&]\w")


def cuts_of(text: str) -> list[Cut]:
    """Return what a claim can lose, the shortest first; none begins or ends inside a pair."""
    claim = read_claim(text)
    found = chain(
        insertion_cuts(claim),
        ending_cuts(claim, least=3 if claim.is_imperative else MIN_WORDS),
        list_cuts(claim),
        predicate_cuts(claim),
        lead_cuts(claim),
        word_cuts(claim),
        _inner_ends(claim),
    )
    end = _sentence_colon(claim)
    clean = [cut for cut in found if cut.start < end and _is_clean(claim, cut)]
    return sorted(clean, key=lambda cut: (cut.end - cut.start, cut.start))


def _inner_ends(claim: Syntax) -> Iterator[Cut]:
    """Yield the ends of a first predicate: "was arrested on May 3 and could …"."""
    joint = predicate_joint(claim)
    if joint is not None and joint < claim.limit:
        head = read_claim(claim.text[: claim.ends(joint - 1)])
        yield from ending_cuts(head, least=head.finite + 2)


def _sentence_colon(claim: Syntax) -> int:
    """Return where the first colon stands behind a subject and its verb, and so is no label's.

    "Use a lint roller:" and "Reduced emissions:" are labels: a verb that begins has no subject.
    """
    verb = next((at for at, norm in enumerate(claim.norms) if at and is_finite(norm)), None)
    colon = None if verb is None else _COLON.search(claim.text, claim.ends(verb))
    return colon.start() if colon else len(claim.text)


def _is_clean(claim: Syntax, cut: Cut) -> bool:
    """Tell whether a cut spares a condition before the main clause, all pairs and all words."""
    is_level = claim.depths[cut.start] == claim.depths[cut.end] == 0
    is_inner = not claim.is_conditional or cut.start >= claim.starts(claim.main)
    halves = (_HYPHENATED.match(claim.text, at - 1) for at in (cut.start, cut.end) if at > 0)
    is_even = not _ENUMERATOR.search(claim.text, cut.start, cut.end)
    return is_level and is_inner and is_even and not any(halves)
