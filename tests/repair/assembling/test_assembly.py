"""Assembly: exact where nothing changed, well formed where something did."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmend.errors import AccountingError
from ragmend.records import Claim
from ragmend.repair.arms import Decision
from ragmend.repair.assembling.assembly import assemble, reconstruct
from ragmend.repair.assembling.sentence_form import capitalise, ends_with_stop
from ragmend.repair.splitting.claims import split_claims


def claims_of(answer, *parts):
    """Build claims from (sentence-clause, text, coordinator) triples, in order."""
    found, position = [], 0
    for number, text, *coordinator in parts:
        start = answer.index(text, position)
        position = start + len(text)
        found.append(
            Claim(
                record_id="r",
                claim_id=f"r-{number}",
                text=text,
                start=start,
                end=position,
                kind="statement",
                coordinator=coordinator[0] if coordinator else None,
            )
        )
    return found


def repair(answer, claims, changes):
    """Apply {index: None (drop) or replacement text}; keep the rest."""
    decisions = [
        Decision("keep", claim.text)
        if i not in changes
        else Decision("drop", "")
        if changes[i] is None
        else Decision("substitute", changes[i])
        for i, claim in enumerate(claims)
    ]
    return assemble(answer, claims, decisions, arm="extractive")


PAIR = "The bridge closed in May, and the council approved repairs. It is old."
PAIR_PARTS = (
    ("s0-c0", "The bridge closed in May"),
    ("s0-c1", "and the council approved repairs.", "and"),
    ("s1-c0", "It is old."),
)
LIST = "Here:\n\n1. **Hours:** 9 to 5.\n2. Parking\n   - free\n3. WiFi\n\nEnd."
LIST_PARTS = (
    ("s0-c0", "Here:"),
    ("s1-c0", "**Hours:** 9 to 5."),
    ("s2-c0", "Parking"),
    ("s3-c0", "free"),
    ("s4-c0", "WiFi"),
    ("s5-c0", "End."),
)
QUOTE = 'One. (Two. Three.) "Four. Five." **Six. Seven.** Eight.'
QUOTE_PARTS = tuple(
    (f"s{i}-c0", text)
    for i, text in enumerate("One. Two. Three. Four. Five. Six. Seven. Eight.".split())
)


@pytest.mark.parametrize(
    ("answer", "parts", "changes", "expected"),
    [
        (PAIR, PAIR_PARTS, {0: None}, "The council approved repairs. It is old."),
        (PAIR, PAIR_PARTS, {1: None}, "The bridge closed in May. It is old."),
        (PAIR, PAIR_PARTS, {0: None, 1: None}, "It is old."),
        (
            PAIR,
            PAIR_PARTS,
            {2: None},
            "The bridge closed in May, and the council approved repairs.",
        ),
        (PAIR, PAIR_PARTS, {0: "New."}, "New. The council approved repairs. It is old."),
        (PAIR, PAIR_PARTS, {1: "New."}, "The bridge closed in May. New. It is old."),
        (PAIR, PAIR_PARTS, {0: "New", 1: None}, "New. It is old."),
        (PAIR, PAIR_PARTS, {0: None, 1: "New"}, "New. It is old."),
        (LIST, LIST_PARTS, {2: None}, "Here:\n\n1. **Hours:** 9 to 5.\n- free\n2. WiFi\n\nEnd."),
        (LIST, LIST_PARTS, {0: None}, LIST.removeprefix("Here:\n\n")),
        (LIST, LIST_PARTS, {1: None, 2: None, 3: None, 4: None}, "Here:\n\nEnd."),
        (LIST, LIST_PARTS, {5: None}, LIST.removesuffix("\n\nEnd.")),
        (QUOTE, QUOTE_PARTS, {1: None}, 'One. (Three.) "Four. Five." **Six. Seven.** Eight.'),
        (QUOTE, QUOTE_PARTS, {2: None}, 'One. (Two.) "Four. Five." **Six. Seven.** Eight.'),
        (QUOTE, QUOTE_PARTS, {1: None, 2: None}, 'One. "Four. Five." **Six. Seven.** Eight.'),
        (QUOTE, QUOTE_PARTS, {3: None, 4: None}, "One. (Two. Three.) **Six. Seven.** Eight."),
        (QUOTE, QUOTE_PARTS, {2: None, 3: None}, 'One. (Two.) "Five." **Six. Seven.** Eight.'),
        (QUOTE, QUOTE_PARTS, {5: None, 6: None, 7: None}, 'One. (Two. Three.) "Four. Five."'),
        (QUOTE, QUOTE_PARTS, {0: None}, '(Two. Three.) "Four. Five." **Six. Seven.** Eight.'),
    ],
)
def test_worked_cases(answer, parts, changes, expected):
    assert repair(answer, claims_of(answer, *parts), changes).text == expected


@pytest.mark.parametrize(
    ("answer", "dropped", "expected"),
    [
        ('"The bridge fell. It rained all day." It is old.', {1}, '"The bridge fell." It is old.'),
        ("**A fell. B rained.** It is old.", {1}, "**A fell.** It is old."),
        ("(1) Mix the flour. It is good.\n(2) Bake it.", {1}, "(1) Mix the flour.\n(2) Bake it."),
        ("1) Mix the flour. 2) Bake it. 3) Serve it.", {0}, "1) Bake it. 2) Serve it."),
        ("1) Mix the flour. 2) Bake it. 3) Serve it.", {1}, "1) Mix the flour. 2) Serve it."),
        ("It was red.\n\n---\n\nIt was old.", {0, 1}, ""),
        ("| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |", {1}, "| a | b |\n|---|---|\n| 3 | 4 |"),
        (
            "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |",
            {0},
            "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |",
        ),
        ("| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |", {2}, "| a | b |\n|---|---|\n| 1 | 2 |"),
        (
            "1. It is nice.\n2. It has a bar.\n   The bar is old.\n3. It is old.",
            {1},
            "1. It is nice.\n2. The bar is old.\n3. It is old.",
        ),
        (
            "Here is the list:\n  - It is red.\n  - It is old.",
            {0},
            "Here is the list:\n  - It is red.\n  - It is old.",
        ),
        (
            "“The bridge fell down.\n\nThe town was sad.”\n\nIt is old.",
            {0},
            "“The town was sad.”\n\nIt is old.",
        ),
        (
            "“The bridge fell down.\n\nThe town was sad.”\n\nIt is old.",
            {1},
            "“The bridge fell down.”\n\nIt is old.",
        ),
        ("It was red.\r\n\r\nIt was old.\r\n\r\nIt fell.", {1}, "It was red.\r\n\r\nIt fell."),
    ],
)
def test_worked_cases_of_split_answers(answer, dropped, expected):
    claims = split_claims(answer, record_id="r")
    assert repair(answer, claims, dict.fromkeys(dropped)).text == expected


def test_a_stop_inside_a_bracket_does_not_end_the_sentence_around_it():
    answer = "It was built in Washington (D.C.), and it has a pub. It is old."
    claims = split_claims(answer, record_id="r")
    assert repair(answer, claims, {1: None}).text == "It was built in Washington (D.C.). It is old."


def test_substitutes_are_not_glued_together_where_a_script_has_no_spaces():
    answer = "日本は島国です。東京は首都です。"
    claims = split_claims(answer, record_id="r")
    text = repair(answer, claims, {0: "The sea is near.", 1: "It rained."}).text
    assert text == "The sea is near. It rained."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("iPhone sales fell.", "iPhone sales fell."),
        ("https://x.org is down.", "https://x.org is down."),
        ("e.g. a town.", "e.g. a town."),
        ("(a) the town", "(a) the town"),
        ("ß is a letter.", "ß is a letter."),
        ("2nd place.", "2nd place."),
        ("yes.", "Yes."),
        ("**bold** text", "**Bold** text"),
        ("", ""),
    ],
)
def test_a_first_word_with_its_own_spelling_is_left_alone(text, expected):
    assert capitalise(text) == expected


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["it has a pub; ", "he has a bar, and she sang, ", "It is old. "])
def test_a_very_long_answer_is_assembled(unit):
    answer = (unit * (300_000 // len(unit))).strip()
    claims = split_claims(answer, record_id="r")
    changes = {i: None if i % 3 else "New one." for i in range(0, len(claims), 2)}
    assembled = repair(answer, claims, changes)
    assert reconstruct(answer, claims, assembled.actions) == assembled.text
    assert 0 < len(assembled.text) < len(answer)


def test_semicolon_clauses_stay_joined_and_the_last_one_gains_a_stop():
    answer = "It was red; it was old; it was long."
    parts = (("s0-c0", "It was red"), ("s0-c1", "it was old"), ("s0-c2", "it was long."))
    claims = claims_of(answer, *parts)
    assert repair(answer, claims, {1: None}).text == "It was red; it was long."
    assert repair(answer, claims, {2: None}).text == "It was red; it was old."
    assert repair(answer, claims, {0: None}).text == "It was old; it was long."
    assert repair(answer, claims, {0: None, 2: None}).text == "It was old."


def test_what_assembly_did_is_recorded():
    claims = claims_of(PAIR, *PAIR_PARTS)
    dropped_first = repair(PAIR, claims, {0: None}).actions
    assert dropped_first[1].edits == ("strip_coordinator", "capitalise")
    dropped_second = repair(PAIR, claims, {1: None}).actions
    assert dropped_second[0].edits == ("add_stop",)
    assert dropped_second[0].text == "The bridge closed in May."
    assert dropped_second[1].text == ""


def test_a_sentence_that_never_had_a_stop_gains_none():
    answer = "- red; old\n- long"
    claims = claims_of(answer, ("s0-c0", "red"), ("s0-c1", "old"), ("s1-c0", "long"))
    assert repair(answer, claims, {1: None}).text == "- red\n- long"


def test_all_dropped_is_the_empty_string():
    claims = claims_of(LIST, *LIST_PARTS)
    assert repair(LIST, claims, dict.fromkeys(range(6))).text == ""


def test_an_untouched_answer_is_byte_identical():
    answer = "  odd   spacing ,\r\n\r\n and \t\u2028 more .  "
    claims = claims_of(answer, ("s0-c0", "odd   spacing ,"), ("s1-c0", "and \t\u2028 more ."))
    assert repair(answer, claims, {}).text == answer


def test_a_claim_that_is_no_span_of_the_answer_is_refused():
    claims = claims_of(PAIR, *PAIR_PARTS)
    with pytest.raises(AccountingError, match="not an ordered span"):
        repair(PAIR.upper(), claims, {})
    with pytest.raises(AccountingError, match="not an ordered span"):
        repair(PAIR, claims[::-1], {})
    with pytest.raises(AccountingError, match="3 claims but 1 decisions"):
        assemble(PAIR, claims, [Decision("drop", "")], arm="removal")


def test_actions_of_other_claims_are_refused():
    claims = claims_of(PAIR, *PAIR_PARTS)
    actions = repair(PAIR, claims, {}).actions
    with pytest.raises(AccountingError, match="not about the claims"):
        reconstruct(PAIR, claims, actions[:2])


def test_capitals_and_stops_are_found_behind_marks():
    assert capitalise('"the cat') == '"The cat'
    assert capitalise("…") == "…"
    assert ends_with_stop('He said "no."')
    assert ends_with_stop("**Done!**")
    assert not ends_with_stop("and so on,")


SENTENCES = st.lists(
    st.sampled_from(
        [
            "It was red.",
            "The bridge closed in May, and the council approved repairs.",
            "He left; she stayed.",
            'He said "it is old."',
            "(It was long. It was wide.)",
            "**Hours:** 9 to 5.",
            "Is it open?",
        ]
    ),
    min_size=1,
    max_size=6,
)
JOINS = st.sampled_from([" ", "\n\n", "\n- ", "\n1. ", "  "])


@given(SENTENCES, JOINS, st.data())
def test_any_subset_can_be_dropped_and_the_rest_is_well_formed(sentences, join, data):
    answer = join.join(sentences)
    claims = split_claims(answer, record_id="r")
    kinds = data.draw(
        st.lists(st.sampled_from(["keep", "drop"]), min_size=len(claims), max_size=len(claims))
    )
    decisions = [
        Decision(kind, claim.text if kind == "keep" else "")
        for kind, claim in zip(kinds, claims, strict=True)
    ]
    assembled = assemble(answer, claims, decisions, arm="removal")
    assert reconstruct(answer, claims, assembled.actions) == assembled.text
    for action in assembled.actions:
        assert action.text in assembled.text
    if "drop" in kinds:
        for wrong in (" .", " ,", ",,", "..", "( ", "()", '""', "****", ", .", "\n\n\n", "- \n"):
            assert wrong not in assembled.text
        assert assembled.text.count("(") == assembled.text.count(")")
        assert assembled.text.count("**") % 2 == 0


def test_no_order_of_changes_on_the_list_leaves_an_empty_bullet():
    claims = claims_of(LIST, *LIST_PARTS)
    for pattern in product([True, False], repeat=len(claims)):
        text = repair(LIST, claims, {i: None for i, dropped in enumerate(pattern) if dropped}).text
        for line in text.split("\n"):
            assert line.strip() not in ("-", "1.", "2.", "3.", "**", "****")
