"""The claim splitter: worked cases, the grammar of gaps, properties, real answers."""

import gzip
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmend.repair.splitting.claims import split_claims
from ragmend.text.delimiters import mark_partners

# Answers with the claims that must come of them; a claim is written as its exact text.
CASES = [
    # sentences
    ("It is so. It was not.", ["It is so.", "It was not."]),
    ("It is so. And the last is never lo", ["It is so.", "And the last is never lo"]),
    ("It cost $3.5 million. Dr. Who paid.", ["It cost $3.5 million.", "Dr. Who paid."]),
    ("Open 9:0-22:30, 5 p.m. on Sunday.", ["Open 9:0-22:30, 5 p.m. on Sunday."]),
    ("See https://a.org/b.c?d=e. Go.", ["See https://a.org/b.c?d=e.", "Go."]),
    ("Heat it. (Passage 2) Eat it.", ["Heat it. (Passage 2)", "Eat it."]),
    ('He said "No. Never." and left.', ['He said "No. Never." and left.']),
    ("Who knows? Nobody!", ["Who knows?", "Nobody!"]),
    ("12.", ["12."]),
    ("-5 degrees", ["-5 degrees"]),
    ('A 24" screen is 24"', ['A 24" screen is 24"']),
    ("Great! 🎉 Come.", ["Great! 🎉", "Come."]),
    # pairs around several claims, with something in front
    ('🎉 "It is one. It is two."', ["It is one.", "It is two."]),
    ('--- (It is one. It is "two.") End.', ["It is one.", 'It is "two."', "End."]),
    ('🎉("a. B" c', ['"a. B" c']),
    # nothing to claim
    ("", []),
    (" \n\n ", []),
    ("...\n---\n🎉", []),
    # clauses
    ("She was arrested and could face prison.", ["She was arrested and could face prison."]),
    (
        "The bridge closed in May, and the council approved repairs.",
        ["The bridge closed in May", "and the council approved repairs."],
    ),
    ("It is hot; it is dry.", ["It is hot", "it is dry."]),
    ("It is hot, but we stay, so we pay.", ["It is hot", "but we stay", "so we pay."]),
    # lines
    ("First line\nSecond line", ["First line", "Second line"]),
    ("It was wrapped\nright here. Yes.", ["It was wrapped\nright here.", "Yes."]),
    ("One\r\n\r\nTwo\u2028Three", ["One", "Two", "Three"]),
    ("> Quoted.\n> More.", ["Quoted.", "More."]),
    (">5 mg is much", [">5 mg is much"]),
    ("🎉\nParty\n🎉🎉", ["Party"]),
    # list items
    ("- one\n* two\n+ three\n• four\n– five", ["one", "two", "three", "four", "five"]),
    ("1. one\n2) two\n(3) three\n10. ten", ["one", "two", "three", "ten"]),
    ("a. one\nb) two\n(c) three\nii. four", ["one", "two", "three", "four"]),
    ("A. First\nB. Second", ["First", "Second"]),
    ("B. King sang.\n\nHe left.", ["B. King sang.", "He left."]),
    ("1. one\n2.", ["one"]),
    ("- one\n  goes on\n  Here too.\n  New.", ["one\n  goes on\n  Here too.", "New."]),
    ("- one. Two is more.\n- three", ["one.", "Two is more.", "three"]),
    ("* a\n\t+ b\n\t\t- 1. c", ["a", "b", "c"]),
    ("Here is how: 1. Heat it. 2. Stir it.", ["Here is how:", "Heat it.", "Stir it."]),
    ("Step 4: Stir it.", ["Step 4: Stir it."]),
    ("- -5 degrees", ["-5 degrees"]),
    # markdown
    ("## The Title ##\nText.", ["The Title", "Text."]),
    ("#1 choice", ["#1 choice"]),
    ("**Hours:** 9 to 5.", ["**Hours:** 9 to 5."]),
    ("**Hours**: 9 to 5.", ["**Hours**: 9 to 5."]),
    ("He said **no** twice.", ["He said **no** twice."]),
    ("**It is bold.** It is not.", ["It is bold.", "It is not."]),
    ("**It is bold. So is this.**", ["It is bold.", "So is this."]),
    ("*All of it.*\n\n***And this.***", ["All of it.", "And this."]),
    ("*One* and *two*", ["*One* and *two*"]),
    ("(It is one. It is two.) End.", ["It is one.", "It is two.", "End."]),
    ("(It is one.) End.", ["(It is one.)", "End."]),
    ('"It is one. It is two." End.', ["It is one.", "It is two.", "End."]),
    ("| A | B |\n|---|:-:|\n| 1 | 2 |", ["A | B", "1 | 2"]),
    ("a | b\n---|---\n1 | 2", ["a | b", "1 | 2"]),
    ("Run:\n```py\nx = 1. Y\n\nz\n```\nDone.", ["Run:", "```py\nx = 1. Y\n\nz\n```", "Done."]),
    ("```\nnever closed", ["never closed"]),
    ("- **Cost:** $5\n- **Time:** 2 h", ["**Cost:** $5", "**Time:** 2 h"]),
    ("one, two,", ["one, two"]),
    # lead-ins
    ("Sure! Here is a summary: Ann left.", ["Sure! Here is a summary:", "Ann left."]),
    ("Sure! Ann left.", ["Sure!", "Ann left."]),
]

KINDS = [
    ("# Title\n\nText is here.", ["heading", "statement"]),
    ("A Short Title\n\nText is here.", ["heading", "statement"]),
    ("A Short Title", ["statement"]),
    ("Alan Hale\nBob Dale\nCarl Gale", ["statement", "statement", "statement"]),
    ("Ingredients:\n- salt", ["heading", "statement"]),
    ("**Opening Hours**\n\nIt opens at 9.", ["heading", "statement"]),
    ("Step 2: Clean the Chain\nUse soap.", ["heading", "statement"]),
    ("Phone: Not Listed\nIt is small.", ["statement", "statement"]),
    ("To cook it, follow these steps:\n1. Heat it.", ["lead_in", "statement"]),
    ("Based on the given passages, the signs are:\n* fever", ["lead_in", "statement"]),
    ("Sure, here is a summary of the text:\n\nAnn left.", ["lead_in", "statement"]),
    ("Here is a summary of the text.\n\nAnn left.", ["lead_in", "statement"]),
    ("Here are three dogs.\n\nAnn left.", ["statement", "statement"]),
    ('Here is my answer to "Who left?"\n\nAnn left.', ["lead_in", "statement"]),
    ("Based on the passages, Ann left.", ["statement"]),
    ("Who left? Ann did.", ["question", "statement"]),
    ('She asked, "Who left?"', ["statement"]),
    ('"Who left?"', ["question"]),
    ("誰？ هل ذهب؟", ["question", "question"]),
    ("Opening hours\n---\nIt opens at 9.", ["heading", "statement"]),
    ("It opens at 9\n---\nIt is small.", ["statement", "statement"]),
    ("Ann left.\n\n    x = 1\n    y = 2", ["statement", "statement"]),
    ("Do this: 1) Heat it. 2) Eat it.", ["heading", "statement", "statement"]),
    ("| A | B |\n|---|---|\n| 1 | 2 |", ["heading", "statement"]),
]

COUNTER = r"\(?(?:\d{1,3}|[A-Za-z]|[ivx]{2,4}|[IVX]{2,4})[.)]"
MARKER = rf"(?<!\S){COUNTER}(?!\S)"
MARKUP = r"[#*_`~>|=+•◦▪‣·●○-]|\[[ xX]\]"
CONNECTING = r"[,;:—–\"“”„‘’'()\[\]{}«»]"
WORDLESS_LINE = r"(?:(?<=\n)|\A)[^\w\n]+(?=\n|\Z)"
REAL_GAP = re.compile(rf"(?:\s|{MARKER}|{MARKUP}|{CONNECTING}|{WORDLESS_LINE}|🎉)*\Z")
ANY_GAP = re.compile(rf"(?:(?<![^\W_]){COUNTER}(?![^\W_])|\[[xX]\]|[\W_])*\Z")


def texts(answer):
    return [claim.text for claim in split_claims(answer, record_id="r")]


def assert_accounted(answer, gap_grammar):
    """Claims are exact and in order; the gaps hold only what the grammar allows."""
    end_before = 0
    for claim in split_claims(answer, record_id="r"):
        assert end_before <= claim.start
        assert answer[claim.start : claim.end] == claim.text
        assert any(map(str.isalnum, claim.text))
        assert claim.text == claim.text.strip()
        assert gap_grammar.match(answer[end_before : claim.start]), answer[end_before : claim.start]
        end_before = claim.end
    assert gap_grammar.match(answer[end_before:]), answer[end_before:]


@pytest.mark.parametrize(("answer", "expected"), CASES)
def test_an_answer_splits_into_the_claims_a_reader_sees(answer, expected):
    assert texts(answer) == expected
    assert_accounted(answer, REAL_GAP)


@pytest.mark.parametrize(("answer", "kinds"), KINDS)
def test_a_claim_is_named_by_what_it_does(answer, kinds):
    assert [claim.kind for claim in split_claims(answer, record_id="r")] == kinds


def test_ids_count_sentences_over_the_answer_and_clauses_in_each():
    answer = "It is hot, but we stay.\n\n- It rains; it snows.\n- No."
    ids = [claim.claim_id for claim in split_claims(answer, record_id="x-7")]
    assert ids == ["x-7-s0-c0", "x-7-s0-c1", "x-7-s1-c0", "x-7-s1-c1", "x-7-s2-c0"]


def test_only_a_later_clause_has_a_coordinator_and_it_leads_its_text():
    claims = split_claims("But it is hot, but we stay; it is dry, so we pay.", record_id="r")
    assert [claim.coordinator for claim in claims] == [None, "but", None, "so"]
    assert all(claim.text.startswith(claim.coordinator or "") for claim in claims)


PROSE = ["The bridge closed", "the council approved it", "it is hot", "12", "3.5", ", and ", "; "]
PROSE += [". ", "? ", ": ", "... ", "…", "!", "U.S. ", "Dr. ", "e.g. ", "5 p.m. ", "'tis", " "]
LINES = [
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    "\u2028",
    "\x85",
    "- ",
    "* ",
    "1. ",
    "2) ",
    "(a) ",
    "A. ",
    "B. ",
]
LINES += [
    "• ",
    " • ",
    "[x] ",
    "> ",
    "# ",
    "---",
    "===",
    "    ",
    "\t",
    "x = 1",
    "Sure! ",
    "Here is ",
]
MARKS = ["**", "*", "_", "`", "```", "~~~", "~~", "|", "| a | b |\n|---|---|\n", *"\"“”„‘’'«»()[]"]
SCRIPTS = [
    *"「」（）。؟۔½",
    "今日は",
    "نعم",
    "🎉",
    "👨\u200d👩\u200d👧",
    "❤\ufe0f",
    "🇫🇷",
    "e\u0301",
]
SCRIPTS += ["\x00", "\u200b", "\u200d", "\ufeff", "\u200f"]
PARTS = st.sampled_from(PROSE) | st.sampled_from(LINES) | st.sampled_from(MARKS)
ANSWERS = st.text() | st.lists(PARTS | st.sampled_from(SCRIPTS), max_size=30).map("".join)


@given(ANSWERS)
def test_every_letter_and_digit_is_in_one_claim_or_in_a_list_marker(answer):
    assert_accounted(answer, ANY_GAP)


def has_word(text):
    return any(map(str.isalnum, text))


@given(ANSWERS)
def test_a_pair_is_in_one_claim_or_outside_all_or_opens_and_closes_between_their_words(answer):
    spans = [(claim.start, claim.end) for claim in split_claims(answer, record_id="r")]

    def claim_at(position):
        return next((span for span in spans if span[0] <= position < span[1]), None)

    for opening, closing in mark_partners(answer).items():
        if opening < closing and claim_at(opening) != claim_at(closing):
            if opens_in := claim_at(opening):
                assert has_word(answer[opens_in[0] : opening])
            if closes_in := claim_at(closing):
                assert has_word(answer[closing : closes_in[1]])


@given(ANSWERS)
def test_splitting_is_deterministic(answer):
    assert split_claims(answer, record_id="r") == split_claims(answer, record_id="r")


SENTENCES = st.sampled_from(
    [
        *["The bridge closed in May", "Ann, 32, paid $3.5 million", "it is hot", "(It rains)"],
        *['she said "no. Never" twice', "See www.a.org/b.c", "Mr. Hale met the U.S. team", "Go 🎉"],
        *["Here is why: it rained", "“It is.” He left", "‘No. Never’ is it", "**Hours:** 9 to 5"],
        *["今日は暑い。「はい。」", "هل ذهب؟ نعم", "It is step 5", "Vitamin C", "He left...", "No"],
    ]
)
JOINTS = st.sampled_from([". ", ", and ", "; ", "\n- ", "!🎉 ", "\r\n", "\u2028", ".\u200b "])


@given(st.lists(SENTENCES, min_size=1, max_size=6), JOINTS)
def test_a_statement_split_again_stays_whole(sentences, joint):
    for claim in split_claims(joint.join(sentences) + ".", record_id="r"):
        assert claim.kind != "statement" or texts(claim.text) == [claim.text]


HOSTILE = {
    "one long line": "the hall and the red bar near the old town ",
    "quotes": 'He said "it is. Or not" twice. ',
    "open quotes": '"a ',
    "single quotes": "‘a 'b ",
    "brackets": "(see [it] {x} (y. Z)) ",
    "open brackets": "(a. ",
    "brackets and quotes": '("',
    "emphasis": "**a _b `c ~~",
    "list lines": "- a\n1. b\n",
    "capital lines": "A. x\n",
    "stops": ". ",
    "stops without spaces": ".!。",
    "long word": "a",
    "fences": "```a\n\n~~~b\n",
    "closed fences": "```\n",
    "table": "|a|\n|-|\n",
    "colons": "a: ",
    "inline numbers": ": 1) A 2) B ",
    "numbers alone": ": 1) 2) ",
    "ands": "it is, and ",
    "semicolons": "it is; ",
    "emoji": "a.🎉 🎉",
    "invisible": "a.\u200b",
    "headings": "a\n---\n",
    "indents": "\ta=1\n\n",
    "line breaks": "\r\u2028",
    "lead-ins": "Sure! Here is a: ",
}


@pytest.mark.parametrize("part", HOSTILE.values(), ids=HOSTILE)
def test_endless_repetition_is_split_like_anything_else(part):
    assert_accounted(part * (100_000 // len(part)) + "a", ANY_GAP)


def test_quotes_in_quotes_without_end_are_one_claim():
    answer = "“‘" * 25_000 + "a" + "’”" * 25_000
    assert texts(answer) == [answer]


def real_answers(folder):
    for name in ("train_response.jsonl.gz", "test_response.jsonl.gz"):
        with gzip.open(folder / name, "rt", encoding="utf-8", newline="\n") as lines:
            yield from (json.loads(line)["response"] for line in lines)


def test_every_real_answer_is_accounted_for_and_its_claims_stay_whole(real_data):
    n_answers = 0
    for answer in real_answers(real_data / "ragtruth"):
        assert_accounted(answer, REAL_GAP)
        n_answers += 1
        if n_answers % 5 == 0:
            assert all(texts(claim) == [claim] for claim in texts(answer))
    assert n_answers > 0
