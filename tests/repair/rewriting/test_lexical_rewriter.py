"""Worked cases: a claim is cut down to what the source states, or left alone."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmend.datasets.ragtruth import find_files, load_ragtruth
from ragmend.records import TASKS, Claim, Source
from ragmend.repair.rewriting.cut import Cut, without
from ragmend.repair.rewriting.cuts import cuts_of
from ragmend.repair.rewriting.number_swaps import with_stated_number
from ragmend.repair.rewriting.rewriter import LexicalRewriter, cut_down
from ragmend.repair.splitting.claims import split_claims
from ragmend.text.reading import read_source
from ragmend.text.words import words

SOURCE = Source(
    source_id="s",
    task_type="Summary",
    text=(
        "The old bridge was closed on May 3 after a flood. Mayor Ada Holt, who is 52, asked for "
        "3.5 million dollars. She was arrested and could face 15 years in prison. "
        "However, he has been discharged and is now resting at home. Her legacy will live on. "
        "A man named Louis Jordan has been rescued after being stranded at sea. "
        "The restaurant has a casual and classy atmosphere and a bar and free WiFi. "
        "It is open seven days a week, on Fridays too, for adults. It has many dishes and soups. "
        "The rating is based on customer reviews. The drug is safe. Students passed the exam. "
        "The shop does not offer delivery. All rooms are closed. Customers praised the staff. "
        "He said it was the largest town. Police allegedly parked the car without harm. "
        "The service was slow when taken, except early, unless late, but not poor. "
        "They used warm water. The menu features pasta. Some customers have had bad experiences."
    ),
)
READING = read_source(SOURCE)

CUT = [
    # The end of the claim, from a comma on.
    ("The old bridge was closed, which angered farmers.", "The old bridge was closed."),
    ("The bridge was closed on May 3, causing zorgs.", "The bridge was closed on May 3."),
    (
        "The restaurant has many dishes, including zorgs, zings, and soups.",
        "The restaurant has many dishes.",
    ),
    (
        "It is open seven days a week, with zorgly extended hours on Fridays.",
        "It is open seven days a week.",
    ),
    ("The restaurant has a bar, as well as a zorg.", "The restaurant has a bar."),
    ("The restaurant has free WiFi, and takes zorgs.", "The restaurant has free WiFi."),
    ("The old bridge was closed, zorging boats!", "The old bridge was closed!"),
    (
        "The restaurant has many dishes including Zorgian soups, hot pots, and zings.",
        "The restaurant has many dishes.",
    ),
    ("The restaurant has a bar, free WiFi, and zorgs.", "The restaurant has a bar and free WiFi."),
    # From a preposition on.
    (
        "She was arrested with zorg and could face 15 years.",
        "She was arrested and could face 15 years.",
    ),
    ("The bridge was closed on May 3 after a storm in Rome.", "The bridge was closed on May 3."),
    (
        "The old bridge was closed after a flood in Rome.",
        "The old bridge was closed after a flood.",
    ),
    ("The mayor was arrested on May 4 in Rome.", "The mayor was arrested."),
    ("Mayor Ada Holt was arrested in Rome.", "Mayor Ada Holt was arrested."),
    (
        "A man named Louis Jordan has been rescued after being stranded at sea for 66 days.",
        "A man named Louis Jordan has been rescued after being stranded at sea.",
    ),
    ("The menu features pasta with zorg sauce.", "The menu features pasta."),
    ("The restaurant has a bar near Zorgia", "The restaurant has a bar"),
    (
        "Some customers have had bad experiences at Zorgia.",
        "Some customers have had bad experiences.",
    ),
    (
        "Customers praised the staff in Zorgia and the bar in Zingia.",
        "Customers praised the staff.",
    ),
    (
        "Customers praised the staff for being safe and the bar for zorgs.",
        "Customers praised the staff.",
    ),
    # A bracket.
    ("The old bridge was closed (for 12 weeks) on May 3.", "The old bridge was closed on May 3."),
    ("The old bridge (1911) was closed after a flood.", "The old bridge was closed after a flood."),
    # A comma phrase between subject and verb, with both commas.
    (
        "Mayor Ada Holt, who lives in Zorgia, was arrested.",
        "Mayor Ada Holt was arrested.",
    ),
    (
        "The bridge, including 12 zorgs, was closed on May 3.",
        "The bridge was closed on May 3.",
    ),
    # Several at once.
    ("The bridge (1911) was closed on May 3, which zorged.", "The bridge was closed on May 3."),
]

NO_SENTENCE_LEFT = [
    "However, he has since been zorged and is now resting at home.",
    "Her legacy will live on as a symbol of zorg and courage.",
    "The restaurant has a casual and zorgly atmosphere, with a bar.",
    "The restaurant has a casual and classy zorg.",
    "The rating is based on three zorgs.",
    "Elephants closed the old bridge after a flood.",
    "She sang in Rome.",
    "The staff has been accused of zorg.",
    "The staff was safe and classy with zorgs.",
    "The bridge in Zorgia was closed.",
    "The man, zorging loudly, and the mayor.",
]

SAYS_MORE = [
    "The drug is safe for adults, when taken with zorgium.",
    "The drug is safe for zorgs.",
    "No students passed the exam in Zorgia.",
    "The shop does not offer delivery on zorgdays.",
    "The shop doesn't offer delivery, which zorgs.",
    "All rooms are closed without zorgian harm.",
    "All rooms are closed, zorging guests.",
    "The bar is open seven days a week (but not to zorgian ones).",
    "The bar is open seven days a week (only zorgs).",
    "The restaurant has free WiFi except in Zorgia.",
    "Police allegedly parked the car without using zorgs.",
    "Police allegedly parked the car, zorging.",
    "It is open seven days a week until zorg.",
    "The restaurant has a bar, unless zorged.",
    "He said it was the largest town in Zorgia.",
    "It opens the bar on zorgdays.",
    "She could face 15 years in Zorgia.",
    "The restaurant has free WiFi, with the exception of zorgs.",
]

LEFT_ALONE = [
    "The old bridge was closed on May 3.",
    "",
    "The old bridge was closed.\nIt was closed, zorging boats.",
    "The old bridge was closed, which `zorg` says.",
    'He said "the old bridge was closed, which angered farmers" on May 3.',
    "She was **arrested in Zorgia**.",
    'The mayor said: "She was arrested in Zorgia."',
]


@pytest.mark.parametrize(("text", "expected"), CUT)
def test_the_unsupported_phrase_is_cut_out(text, expected):
    assert cut_down(text, READING) == expected


@pytest.mark.parametrize("text", NO_SENTENCE_LEFT)
def test_nothing_is_cut_where_no_sentence_would_be_left(text):
    assert cut_down(text, READING) is None


@pytest.mark.parametrize("text", SAYS_MORE)
def test_nothing_is_cut_where_the_rest_would_say_more(text):
    assert cut_down(text, READING) is None


@pytest.mark.parametrize("text", LEFT_ALONE)
def test_supported_text_code_quotes_and_markup_are_left_alone(text):
    assert cut_down(text, READING) is None


SOURCE_STEP = 4  # every fourth source of the data: all of them take most of a minute
PARTS = (
    "the old bridge was were closed Zorg Bob Ann Lee , , ( ) in on at with which including and and "
    'but or . " ** 12 15 years not a an casual elegant is are has could face because to ensure by '
    "closing May 3 soups , such as thoroughly who arrested"
).split()
TEXTS = st.lists(st.sampled_from(PARTS), max_size=25).map(" ".join)


@given(TEXTS, TEXTS)
def test_no_word_is_added_that_stands_in_neither_claim_nor_source(text, source):
    reading = read_source(Source(source_id="s", task_type="Summary", text=source))
    rest = cut_down(text, reading)
    allowed = {word.norm for whole in (text, source) for word in words(whole)}
    assert rest is None or {word.norm for word in words(rest)} <= allowed


@given(TEXTS)
def test_a_rewrite_is_shorter_unless_a_number_was_corrected(text):
    rest = cut_down(text, READING)
    n_words = len(words(text))
    assert rest is None or len(words(rest)) < n_words or with_stated_number(text, READING) == rest


@pytest.mark.skipif("RAGMEND_DATA" not in os.environ, reason="RAGMEND_DATA names the real data")
def test_no_word_is_added_to_real_claims():
    files = find_files(Path(os.environ["RAGMEND_DATA"]) / "ragtruth", "train")
    dataset = load_ragtruth(files, split="train", tasks=TASKS)
    n_rewrites = 0
    for source_id, responses in list(_by_source(dataset.responses).items())[::SOURCE_STEP]:
        reading = read_source(dataset.sources[source_id])
        stated = {word.norm for found in reading.words_F for word in found}
        for claim in _claims(responses):
            rest = cut_down(claim.text, reading)
            n_rewrites += rest is not None
            added = _norms(rest or "") - _norms(claim.text) - stated
            assert not added, claim.claim_id
    assert n_rewrites > 0


def _by_source(responses):
    groups = {}
    for response in responses:
        groups.setdefault(response.source_id, []).append(response)
    return groups


def _claims(responses):
    for response in responses:
        for claim in split_claims(response.text, record_id=response.record_id):
            if claim.kind == "statement":
                yield claim


def _norms(text):
    return {word.norm for word in words(text)}


def test_a_clause_that_becomes_a_sentence_loses_its_coordinator():
    text = "but the old bridge was closed, zorging boats."
    claim = Claim(
        record_id="r",
        claim_id="r-s0-c1",
        text=text,
        start=0,
        end=len(text),
        kind="statement",
        coordinator="but",
    )
    assert LexicalRewriter().rewrite(SOURCE, claim, ()) == "The old bridge was closed."


@pytest.mark.parametrize(
    "text",
    [
        "The town is nice for Zorg and " + 500 * "a" + "@ and it goes.",
        "The old bridge was closed " + 4_000 * "in Zorg 5 ",
        "The old bridge was closed" + 20_000 * " " + "in Zorg",
        "The old bridge was closed " + 20_000 * "(",
        "The old bridge was closed " + 4_000 * "(zorg) ",
        "The old bridge was closed" + 4_000 * ", which zorg",
        "The old bridge was closed " + 4_000 * "passage 5 ",
    ],
)
def test_hostile_claims_come_to_an_end(text):
    # A pattern that backtracks would take minutes to years here; what comes adds no word.
    rest = cut_down(text, READING)
    assert rest is None or len(rest) <= len(text)


@given(st.text(alphabet=st.characters(codec="utf-8")) | TEXTS)
def test_any_text_has_cuts_inside_it(text):
    for cut in cuts_of(text):
        spans = [(cut.start, cut.end), *((edit.start, edit.end) for edit in cut.also)]
        assert cut.start < cut.end
        assert all(0 <= start <= end <= len(text) for start, end in spans)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("She has a cozy elegant bar.", "She has an elegant bar."),
        ("She has a cozy bar.", "She has a bar."),
        ("She has a cozy one-room bar.", "She has a one-room bar."),
        ("She has a cozy university.", "She has a university."),
        ("She has a cozy hour.", "She has an hour."),
    ],
)
def test_an_article_fits_the_sound_behind_it(text, expected):
    start = text.index(" cozy")
    cut = Cut(start, start + len(" cozy"))
    assert without(text, cut, is_known=lambda norm: norm in ("a", "an")) == expected
    wants_another = " an " in expected
    assert (without(text, cut, is_known=lambda norm: False) is None) == wants_another
