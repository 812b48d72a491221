"""A table of claims, what their source says, and what is left of them; None: nothing is proposed.

Every row is judged by two rules: the rest is a sentence, and it says nothing that the claim
did not say. Where no cut gives both, nothing is the right answer.
"""

from typing import NamedTuple

import pytest

from ragmend.records import Source
from ragmend.repair.rewriting.rewriter import cut_down
from ragmend.text.reading import read_source


class Case(NamedTuple):
    """One worked case."""

    name: str
    claim: str
    source: str
    expected: str | None
    why: str


NUMBERS = [
    Case(
        "number in a prepositional phrase",
        "The bridge was closed after 12 accidents.",
        "The bridge was closed.",
        "The bridge was closed.",
        "what happened stands without its reason",
    ),
    Case(
        "date alone",
        "She was arrested on March 26 and could face 15 years in prison.",
        "She was arrested. She could face 15 years in prison.",
        "She was arrested and could face 15 years in prison.",
        "only the date is unsupported, so only the date goes",
    ),
    Case(
        "date and what happened then",
        "She was arrested on March 26 and could face 15 years in prison.",
        "She could face 15 years in prison.",
        "She could face 15 years in prison.",
        "the whole first predicate goes, the subject stays",
    ),
    Case(
        "number in a bracket",
        "Preheat the oven to 350°F (180°C).",
        "Preheat the oven to 350°F for the cake.",
        "Preheat the oven to 350°F.",
        "a bracket goes whole",
    ),
    Case(
        "number in a relative clause",
        "The bridge was closed, which cost 12 million dollars.",
        "The bridge was closed.",
        "The bridge was closed.",
        "the clause adds something, it picks nothing out",
    ),
    Case(
        "number that is the statement",
        "The bridge is 300 meters long.",
        "The bridge is long. Meters are units.",
        None,
        "without the number nothing is said",
    ),
    Case(
        "year before the main clause",
        "In 1911, the bridge was closed after a flood.",
        "The bridge was closed after a flood.",
        "The bridge was closed after a flood.",
        "an event stands without its year",
    ),
    Case(
        "number behind a comparative",
        "The bridge is longer than 300 meters.",
        "The bridge is longer than the tunnel. Meters are units.",
        None,
        "the cut would leave half a comparison",
    ),
]

CORRECTED = [
    Case(
        "years in the very same phrase",
        "She could face 15 years in prison.",
        "The judge said she could face 25 years in prison.",
        "She could face 25 years in prison.",
        "one fragment says all the rest, with one number in the same place",
    ),
    Case(
        "two numbers to choose from",
        "She could face 15 years in prison.",
        "She could face 25 years in prison. Or she could face 30 years in prison.",
        None,
        "nothing tells which number is meant",
    ),
    Case(
        "another noun is counted",
        "The trial took 15 days in court.",
        "The trial took 25 witnesses some days in court.",
        None,
        "witnesses are not days",
    ),
    Case(
        "the fragment lacks a word of the claim",
        "The cook could face 15 years in prison.",
        "The thief could face 25 years in prison. A cook called.",
        None,
        "the years are somebody else's",
    ),
    Case(
        "the source negates",
        "She could face 15 years in prison.",
        "She could not face 25 years in prison.",
        None,
        "the source says the opposite",
    ),
    Case(
        "a limit on the number",
        "She could face only 15 years in prison.",
        "She could face 25 years in prison.",
        None,
        "the source does not say that it is little",
    ),
    Case(
        "a date",
        "The old bridge was closed on May 4.",
        "The old bridge was closed on May 3 after a flood.",
        "The old bridge was closed on May 3.",
        "same event, one date",
    ),
    Case(
        "a percentage",
        "Sales of bread rose by 12 percent.",
        "Sales of bread rose by 21 percent.",
        "Sales of bread rose by 21 percent.",
        "same verb, one percentage",
    ),
    Case(
        "a time",
        "The shop opens at 9 am.",
        "The shop opens at 10 am.",
        None,
        "times are left alone: they differ by day and by half of the day",
    ),
]

CONJUNCTS = [
    Case(
        "second predicate",
        "She was arrested in Rome and now owns a zeppelin.",
        "She was arrested in Rome.",
        "She was arrested in Rome.",
        "the second predicate goes with its 'and'",
    ),
    Case(
        "second predicate behind a comma",
        "The cafe has free WiFi, and takes zlotys.",
        "The cafe has free WiFi.",
        "The cafe has free WiFi.",
        "the second predicate goes with its comma",
    ),
    Case(
        "second predicate that refers to the first",
        "Clean the blue pan and put it in the oven.",
        "Put it in the oven.",
        None,
        "'it' would refer to nothing",
    ),
    Case(
        "step of a recipe",
        "Remove the roast from the oven and let it cool in Rome.",
        "Remove the roast from the oven.",
        "Remove the roast from the oven.",
        "a request stands without the next one",
    ),
    Case(
        "second object",
        "The cafe serves soups and zucchini.",
        "The cafe serves soups.",
        "The cafe serves soups.",
        "one of two objects goes with its 'and'",
    ),
    Case(
        "second adjective",
        "The cafe has a casual and cozy ambience.",
        "The cafe has a casual ambience.",
        "The cafe has a casual ambience.",
        "one of two adjectives goes with its 'and'",
    ),
    Case(
        "first adjective before another sound",
        "The cafe has a cozy and elegant ambience.",
        "The cafe has an elegant ambience.",
        "The cafe has an elegant ambience.",
        "the article changes to one that the source has",
    ),
    Case(
        "article that nobody wrote",
        "The cafe has a cozy and elegant ambience.",
        "The cafe has elegant ambience.",
        None,
        "'an' stands in neither claim nor source",
    ),
    Case(
        "pair that belongs together",
        "The sauce is a mix of cream and zucchini.",
        "The sauce is a mix of cream.",
        None,
        "a mix needs two",
    ),
    Case(
        "between two things",
        "The road runs between Rome and Milan.",
        "The road runs between Rome.",
        None,
        "'between' needs two",
    ),
]

LISTS = [
    Case(
        "middle item of three",
        "The cafe serves pasta, zucchini, and soup.",
        "The cafe serves pasta and soup.",
        "The cafe serves pasta and soup.",
        "of three two are left, without a comma",
    ),
    Case(
        "last item of three",
        "The cafe serves pasta, soup, and zucchini.",
        "The cafe serves pasta and soup.",
        "The cafe serves pasta and soup.",
        "the 'and' moves up",
    ),
    Case(
        "middle item of four",
        "The cafe serves pasta, zucchini, soup, and bread.",
        "The cafe serves pasta, soup and bread.",
        "The cafe serves pasta, soup, and bread.",
        "the commas of a list of three stay",
    ),
    Case(
        "two items of four",
        "The cafe serves pasta, zucchini, soup, and zinfandel.",
        "The cafe serves pasta and soup.",
        "The cafe serves pasta and soup.",
        "one after the other",
    ),
    Case(
        "examples",
        "The cafe has many dishes, including zucchini and zinfandel.",
        "The cafe has many dishes.",
        "The cafe has many dishes.",
        "no example is supported, so all go",
    ),
    Case(
        "examples without a comma",
        "The cafe serves many dishes such as zucchini.",
        "The cafe serves many dishes.",
        "The cafe serves many dishes.",
        "examples narrow nothing",
    ),
    Case(
        "counted list",
        "The cafe serves three dishes, pasta, soup, and zucchini.",
        "The cafe serves three dishes, pasta and soup.",
        None,
        "three would no longer be three",
    ),
    Case(
        "numbered list",
        "The three steps are (1) washing, (2) zapping, and (3) drying.",
        "The three steps are washing and drying.",
        None,
        "a number would be missing",
    ),
]

INSERTIONS = [
    Case(
        "relative clause",
        "Mayor Ada Holt, who lives in Zagreb, was arrested.",
        "Mayor Ada Holt was arrested.",
        "Mayor Ada Holt was arrested.",
        "both commas go too",
    ),
    Case(
        "apposition",
        "Ada Holt, a dentist, was arrested.",
        "Ada Holt was arrested.",
        "Ada Holt was arrested.",
        "a name stands without what it is called",
    ),
    Case(
        "restrictive clause",
        "The mayor who lives in Zagreb was arrested.",
        "The mayor was arrested.",
        None,
        "it tells which mayor",
    ),
    Case(
        "bracket within a bracket",
        "The bridge (built in 1911 (rebuilt 1912)) was closed after a flood.",
        "The bridge was closed after a flood.",
        "The bridge was closed after a flood.",
        "a nested cut takes the outer bracket",
    ),
    Case(
        "bracket that is part of a word",
        "The old 401(k) plan was closed after a flood.",
        "The old plan was closed after a flood.",
        None,
        "'401' would be another name",
    ),
    Case(
        "adverb",
        "The bridge was thoroughly cleaned after a flood.",
        "The bridge was cleaned after a flood.",
        "The bridge was cleaned after a flood.",
        "it only strengthens",
    ),
    Case(
        "adverb that weakens",
        "The bridge was nearly closed after a flood.",
        "The bridge was closed after a storm.",
        None,
        "without 'nearly' the bridge is closed",
    ),
    Case(
        "epithet",
        "The cafe offers delicious soups and bread.",
        "The cafe offers soups and bread.",
        "The cafe offers soups and bread.",
        "praise picks nothing out",
    ),
    Case(
        "privative adjective",
        "She met a former mayor of the town.",
        "She met a mayor of the town.",
        None,
        "a former mayor is no mayor",
    ),
    Case(
        "participle at the end",
        "The bridge was closed, making drivers furious.",
        "The bridge was closed.",
        "The bridge was closed.",
        "a consequence goes with its comma",
    ),
    Case(
        "reason at the end",
        "The bridge was closed because a zeppelin fell.",
        "The bridge was closed.",
        "The bridge was closed.",
        "what happened stands without why",
    ),
    Case(
        "contrast at the end",
        "The soup is very good, but the bread is stale.",
        "The soup is very good.",
        "The soup is very good.",
        "a second clause goes whole",
    ),
    Case(
        "two cuts of two kinds",
        "The bridge (1911) was closed on May 3, which annoyed drivers.",
        "The bridge was closed on May 3.",
        "The bridge was closed on May 3.",
        "bracket and clause",
    ),
    Case(
        "phrase within a phrase",
        "The bridge was closed after a storm in Zagreb.",
        "The bridge was closed.",
        "The bridge was closed.",
        "the outer phrase takes the inner with it",
    ),
]

AGREEMENT = [
    Case(
        "are becomes is, as the source has it",
        "Ann Lee and Bob Roe are from Rome.",
        "Ann Lee is from Rome.",
        "Ann Lee is from Rome.",
        "one subject, and 'is' is a word of the source",
    ),
    Case(
        "is stands nowhere",
        "Ann Lee and Bob Roe are from Rome.",
        "Ann Lee comes from Rome.",
        None,
        "'Ann Lee are' is wrong, and 'is' would be added",
    ),
    Case(
        "a verb that is the same for all",
        "Ann Lee and Bob Roe could face 15 years.",
        "Ann Lee could face 15 years.",
        "Ann Lee could face 15 years.",
        "a modal verb does not change",
    ),
    Case(
        "a plural is left",
        "Cats and zebras are allowed in the park.",
        "Cats are allowed in the park.",
        "Cats are allowed in the park.",
        "'cats are' agrees",
    ),
    Case(
        "a plural predicate",
        "Ann Lee and Bob Roe are students.",
        "Ann Lee is one of the students.",
        None,
        "'Ann Lee is students' is wrong",
    ),
    Case(
        "a present verb that would need an s",
        "Ann Lee and Bob Roe live in the old town.",
        "Ann Lee came to the old town to live.",
        None,
        "'Ann Lee live' is wrong",
    ),
    Case(
        "said of both together",
        "Ann Lee and Bob Roe were arrested together.",
        "Ann Lee was arrested together with others.",
        None,
        "'together' needs two",
    ),
]

MEANING = [
    Case(
        "negated event",
        "No student passed the exam in Zagreb.",
        "No student passed the exam.",
        None,
        "that none passed there does not say that none passed",
    ),
    Case(
        "negation that goes with the cut",
        "She was not arrested in Zagreb and could face 15 years in prison.",
        "She could face 15 years in prison.",
        "She could face 15 years in prison.",
        "the negation is all within the first predicate",
    ),
    Case(
        "only",
        "Only adults were admitted in Zagreb.",
        "Only adults were admitted.",
        None,
        "elsewhere others may be",
    ),
    Case(
        "without",
        "The bridge was closed without a warning from Zagreb.",
        "The bridge was closed without a warning.",
        None,
        "there may have been another warning",
    ),
    Case(
        "all",
        "All rooms were closed in Zagreb.",
        "All rooms were closed.",
        None,
        "all there are not all",
    ),
    Case(
        "condition at the end",
        "The drug is safe for adults if taken with zinc.",
        "The drug is safe for adults.",
        None,
        "it may not be safe otherwise",
    ),
    Case(
        "condition before the main clause",
        "If zinc is taken, the drug is safe for adults.",
        "The drug is safe for adults.",
        None,
        "it may not be safe otherwise",
    ),
    Case(
        "consequence of a condition",
        "If it rains, the match is moved, which annoys zealots.",
        "If it rains, the match is moved.",
        "If it rains, the match is moved.",
        "the consequence may say less",
    ),
    Case(
        "unless",
        "The shop is open on Sundays, unless zebras come.",
        "The shop is open on Sundays.",
        None,
        "the exception would be lost",
    ),
    Case(
        "not X but Y",
        "He ate not fish but meat from Zagreb.",
        "He ate not fish but meat.",
        None,
        "nothing goes behind a negation",
    ),
    Case(
        "superlative",
        "It was the largest bridge in Zagreb.",
        "It was the largest bridge.",
        None,
        "the largest of a town is not the largest",
    ),
    Case(
        "habit",
        "The shop opens on Zeppelin days.",
        "The shop opens.",
        None,
        "it does not open every day",
    ),
    Case(
        "hearsay",
        "Police allegedly closed the bridge after a flood in Zagreb.",
        "Police closed the bridge after a flood.",
        None,
        "nothing goes from what is only alleged",
    ),
    Case(
        "means before a possibility",
        "With zinc, children can learn to swim in the pool.",
        "Children can learn to swim in the pool.",
        None,
        "without it they may not",
    ),
]

NOTHING_LEFT = [
    Case("two words left", "She sang in Zagreb.", "She sang.", None, "hardly a statement"),
    Case(
        "three words left",
        "They serve soups and zucchini.",
        "They serve soups.",
        None,
        "hardly a statement",
    ),
    Case(
        "no predicate left",
        "The bridge is in Zagreb and in ruins.",
        "The bridge stood.",
        None,
        "'is' calls for more",
    ),
    Case(
        "no noun left for the preposition",
        "The rating is based on zebras.",
        "The rating is based on reviews.",
        None,
        "'based' calls for more",
    ),
    Case(
        "everything is supported",
        "The bridge was closed.",
        "The bridge was closed.",
        None,
        "there is nothing to cut",
    ),
    Case(
        "the subject is unsupported",
        "Zebras closed the old bridge.",
        "The old bridge was closed.",
        None,
        "a sentence needs its subject",
    ),
    Case(
        "behind the colon of a sentence",
        "You can also use the keyboard shortcut: Select the row, making zebras happy.",
        "You can also use the keyboard shortcut. Select the row.",
        None,
        "what is left behind a colon would not follow from it",
    ),
    Case(
        "behind the colon of a step's name",
        "Use baking soda: Sprinkle baking soda inside the shoes and let it zing.",
        "Use baking soda. Sprinkle baking soda inside the shoes.",
        "Use baking soda: Sprinkle baking soda inside the shoes.",
        "a request without a subject is a label",
    ),
    Case(
        "behind the colon of a label",
        "Step 4: Preheat the oven to 350°F (180°C).",
        "Preheat the oven to 350°F for the cake.",
        "Step 4: Preheat the oven to 350°F.",
        "a label is none",
    ),
    Case(
        "food that appears to be offered",
        "Blue Fig appears to offer food, including zorgs.",
        "Blue Fig appears to offer food.",
        None,
        "every restaurant offers food",
    ),
    Case(
        "reviews that were received",
        "They have received reviews for their services, which zorgs.",
        "They have received reviews for their services.",
        None,
        "nothing is said of the reviews",
    ),
    Case(
        "reviews of a kind",
        "They have received positive reviews for their services, which zorgs.",
        "They have received positive reviews for their services.",
        "They have received positive reviews for their services.",
        "what the reviews were is said",
    ),
    Case(
        "no food",
        "Blue Fig does not offer food, which zorgs.",
        "Blue Fig does not offer food.",
        None,
        "nothing goes behind a negation",
    ),
    Case(
        "food of a kind",
        "Blue Fig offers delicious Greek food.",
        "Blue Fig has Greek food.",
        "Blue Fig offers Greek food.",
        "the kind is said",
    ),
    Case(
        "half of a quotation",
        'The mayor said "the bridge was closed in Zagreb" on May 3.',
        "The mayor said the bridge was closed on May 3.",
        None,
        "words in quotes stay as they were said",
    ),
    Case(
        "half of a hyphenated word",
        "Find the old folder and right-click it with zest.",
        "Find the old folder and click right.",
        None,
        "'right-click' is one word",
    ),
]

# What a reader would write and the rules do not find: a noun needs more than lists to be seen.
KNOWN_LIMITS = [
    Case(
        "modifier of a common noun",
        "The cafe has front and zinc doors.",
        "The cafe has front doors.",
        "The cafe has front doors.",
        "'zinc' goes, 'doors' stays",
    ),
    Case(
        "second object of two words",
        "The cafe offers takeout and valet parking.",
        "The cafe offers takeout.",
        "The cafe offers takeout.",
        "'valet' could be a modifier of both nouns",
    ),
    Case(
        "adjectives with a comma",
        "The puppy gave small, zappy bites and licks.",
        "The puppy gave small bites and licks.",
        "The puppy gave small bites and licks.",
        "an adjective of two goes with the comma",
    ),
    Case(
        "third person singular",
        "Ann Lee and Bob Roe live in the old town.",
        "Ann Lee lives in the old town.",
        "Ann Lee lives in the old town.",
        "'lives' is a word of the source",
    ),
]

CASES = [
    *NUMBERS,
    *CORRECTED,
    *CONJUNCTS,
    *LISTS,
    *INSERTIONS,
    *AGREEMENT,
    *MEANING,
    *NOTHING_LEFT,
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_claim_becomes_what_its_source_supports(case):
    reading = read_source(Source(source_id="s", task_type="Summary", text=case.source))
    assert cut_down(case.claim, reading) == case.expected, case.why


@pytest.mark.xfail(strict=True, reason="nouns and verb forms are seen by closed lists only")
@pytest.mark.parametrize("case", KNOWN_LIMITS, ids=lambda case: case.name)
def test_what_closed_lists_do_not_see(case):
    reading = read_source(Source(source_id="s", task_type="Summary", text=case.source))
    assert cut_down(case.claim, reading) == case.expected, case.why


FIELDS = [
    # claim, attributes, expected
    (
        "The cafe offers free WiFi and takes zlotys.",
        {"WiFi": "no"},
        None,  # the source says that there is none
    ),
    (
        "The cafe offers free WiFi, and takes zlotys.",
        {"WiFi": "free"},
        "The cafe offers free WiFi.",
    ),
    (
        "The cafe does not offer free WiFi, and takes zlotys.",
        {"WiFi": "free"},
        None,  # the claim denies what the source states
    ),
    (
        "The cafe offers takeout, making zealots happy.",
        {"RestaurantsTakeOut": False},
        None,
    ),
    (
        "The cafe offers takeout and delivery, making zealots happy.",
        {"RestaurantsTakeOut": True, "RestaurantsDelivery": True},
        "The cafe offers takeout and delivery.",
    ),
    (
        "The cafe offers takeout and delivery, making zealots happy.",
        {"RestaurantsTakeOut": True, "RestaurantsDelivery": None},
        "The cafe offers takeout.",  # unknown is not stated
    ),
]


@pytest.mark.parametrize(("claim", "attributes", "expected"), FIELDS)
def test_a_yes_stays_a_yes_and_a_no_a_no(claim, attributes, expected):
    fields = {"name": "The Cafe", "attributes": attributes}
    source = Source(source_id="s", task_type="Data2txt", fields=fields)
    assert cut_down(claim, read_source(source)) == expected


def test_every_kind_of_case_has_its_own_name():
    assert len({case.name for case in CASES}) == len(CASES) >= 50
