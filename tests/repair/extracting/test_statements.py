"""Worked cases: what a sentence says by itself, cut out of its source."""

import pytest

from ragmend.repair.extracting.statements import (
    is_first_person,
    is_garbled,
    is_statement,
    mood,
    refers_back,
)

STATEMENTS = [
    "The old bridge was closed on May 3 after a flood.",
    "Fish are one of the best foods for eye health.",
    "Preheat the oven to 400 degrees F.",
    "Do not stir the sauce too often.",
    "In a large bowl, combine the squash with the flour.",
    "After resting 10 minutes, the roast should reach 145 degrees.",
    "Sticking your shoes in the freezer is a great way to deodorize them.",
    "There's a long bar and a front and back patio.",
    "The bank opened its doors in 1987.",
    "Patients with diabetes should see a doctor.",
    "It is important to know the stage.",
]
SCRAPS = [
    ("title", "Foods Containing Potassium."),
    ("title of three words", "Freezing Potatoes."),
    ("title with a verb", "How to Defend Your Castle."),
    ("names", "Long Beach 10 Day Weather."),
    ("one word", "Food."),
    ("numbers", "2 2."),
    ("parts", "Part 2. 1 1."),
    ("navigation", "Return to the list | Our home page."),
    ("broken off", "Here are 20 water-saving tips to get you going…"),
    ("broken off by dots", "The old bridge was closed..."),
    ("number behind", "The bridge was closed on Monday. 1."),
    ("lead-in", "The mayor gave these reasons:"),
    ("lead-in in bold", "**The mayor gave these reasons:**"),
    ("here", "Here's a cheat sheet to help you cut the boards."),
    ("question", "Why was the old bridge closed?"),
    ("no verb", "Not the best customer service in the world."),
    ("adjectives", "Hot, fluffy, fresh and crispy."),
    ("predicate", "Melts at 840°C and boils at 1484°C."),
    ("auxiliary", "Will not be interested in food."),
    ("participle", "Used in steel and in other metals."),
    ("gerund", "Freezing potatoes for hash browns at home."),
    ("predicate behind a label", "Physical properties: Melts at 840°C in a furnace."),
    ("relative clause only", "Foods that contain a lot of potassium."),
    ("subordinate clause only", "Once to seat us, and once after we waited an hour."),
    ("infinitive", "To rinse out your shirt at home."),
    ("ingredient", "1/2 teaspoon dried rosemary leaves, 1 crushed."),
    ("in brackets", "(The oven should be at 400 degrees.)"),
]


@pytest.mark.parametrize("text", STATEMENTS)
def test_a_sentence_with_its_subject_and_verb_is_a_statement(text):
    assert is_statement(text)


@pytest.mark.parametrize("text", [row[1] for row in SCRAPS], ids=[row[0] for row in SCRAPS])
def test_scraps_titles_and_predicates_are_none(text):
    assert not is_statement(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Preheat the oven.", "request"),
        ("3. **Bake it**: Bake the cake for an hour.", "request"),
        ("Step 2: Gently stir the sauce.", "request"),
        ("If it sticks, add a little oil.", "request"),
        ("You should add a little oil.", "statement"),
        ("The oven is hot.", "statement"),
        ("Work is hard.", "statement"),
        ("Melts at 840°C.", None),
        ("", None),
    ],
)
def test_a_request_is_no_statement_of_fact(text, expected):
    assert mood(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "It was closed on May 3.",
        "And the mayor came.",
        "Or you can continue to grow them indoors.",
        "But 2 customers wore no mask.",
        "So the bridge was closed.",
        "Then, turn down the heat.",
        "Also, the last three times they had no ribs.",
        "However, the mayor came.",
        "I also noticed a happy hour.",
        "Double cream, however, is excellent.",
        "Both devices use the same card.",
        "Note: It is closed on Mondays.",
        "If they are cold, the milk is too.",
        "Roast them for an hour.",
        "Repeat this step for each nail.",
        "It may be a temporary measure to save money.",
        "The following tests may be used in the process.",
        "You can then play with the numbers.",
        "Note: Keep in mind that they're there only on Mondays.",
        "It's best not to plant them too close.",
        "In the 1940's his nephew moved away.",
        "There is another difference.",
        "If you're not, find the bass note.",
        "The steering differs between the two as well.",
    ],
)
def test_what_points_to_its_source_refers_back(text):
    assert refers_back(text)


@pytest.mark.parametrize(
    "text",
    [
        "It is important to know the stage.",
        "It takes about two hours to bake a ham.",
        "The mayor said they would come.",
        "When the dough rises, put it in the oven.",
        "PCOS is also known as a hormonal disorder.",
        "Sorbet has no milk.",
        "Thenar muscles move the thumb.",
    ],
)
def test_what_has_its_noun_does_not(text):
    assert not refers_back(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I recommend the soup.", True),
        ("We had very good service.", True),
        ("She gave us a table.", True),
        ("The soup is my favorite.", True),
        ("He said: “I was there.”", False),
        ('"We are glad," he said.', False),
        ("The US has type I diabetes and World War I.", False),
        ("The mine was closed by U.S. officials.", True),
        ("The meal is good.", False),
    ],
)
def test_the_first_person_is_seen_outside_quotes(text, expected):
    assert is_first_person(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It loses power to the lamps.elish stays on.", True),
        ("Part 1.For example, it rains.", True),
        ("Fill the bowl.old the lid.", True),
        ("Take it from the oven.10. Serve it.", True),
        ("Keep warm.ITAMIN C helps.", True),
        ("The tests are these: 1 CT scan, 2 MRI.", True),
        ("Tip #6 A good way is to trim it.", True),
        ("Shanghai Weather Shanghai weather is mild.", True),
        ("Select a scheme The time settings are displayed.", True),
        ("The U.S. and U.S.-based firms agreed.", False),
        ("See www.example.com, example.org or example.gov/help.", False),
        ("Write to ann@example.co.uk at 9 a.m. today.", False),
        ("Open setup.exe and readme.txt.", False),
        ("Pay $3.50 for 1.5 kg, i.e. a lot, e.g. here.", False),
    ],
)
def test_fused_sentences_and_left_over_numbers_are_seen(text, expected):
    assert is_garbled(text) == expected
