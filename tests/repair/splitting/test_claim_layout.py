"""Claims of laid-out answers: lists, headings, tables, code, line ends."""

import pytest

from ragmend.repair.splitting.claims import split_claims

# By subject: an answer, and its claims as exact text.
CASES = {
    "numbered lists": [
        ("1. Heat it.\n2. Stir it. Wait.\n10. Eat.", ["Heat it.", "Stir it.", "Wait.", "Eat."]),
        ("1) Heat it\n2) Stir it", ["Heat it", "Stir it"]),
        ("(a) Heat it.\n(b) Stir it.", ["Heat it.", "Stir it."]),
        ("a) heat it\nb) stir it\nc) eat", ["heat it", "stir it", "eat"]),
        ("i. one\nii. two\niii. three\niv. four", ["one", "two", "three", "four"]),
        ("1. 5 cups of rice\n2. 3.5 cups of salt", ["5 cups of rice", "3.5 cups of salt"]),
        ("1.Heat it.\n2.Stir it.", ["Heat it.", "Stir it."]),
        ("1.5 cups of rice\n2.5 cups of salt", ["1.5 cups of rice", "2.5 cups of salt"]),
        ("1. 2014 was wet.\n\n2. 2015 was dry.", ["2014 was wet.", "2015 was dry."]),
        (
            "Do this: 1) Heat it. 2) Stir it. 3) Eat it.",
            ["Do this:", "Heat it.", "Stir it.", "Eat it."],
        ),
        ("Do this: 1. Heat it 2. Stir it 3. Eat", ["Do this:", "Heat it", "Stir it", "Eat"]),
        ("1. Heat it. 2. Stir it.\n", ["Heat it.", "Stir it."]),
        ("1) Heat it as in passage 2. Stir it.", ["Heat it as in passage 2.", "Stir it."]),
        (
            "Here is what he left: a hat. Here is why: it rained.",
            ["Here is what he left:", "a hat.", "Here is why:", "it rained."],
        ),
        ("I. Heat\nII. Stir", ["Heat", "Stir"]),
    ],
    "bulleted lists": [
        ("- one\n* two\n• three\n– four\n· five", ["one", "two", "three", "four", "five"]),
        ("•one\n•two", ["one", "two"]),
        ("It has:\n\n* A bar. It is old.\n* A pool", ["It has:", "A bar.", "It is old.", "A pool"]),
        ("-5 degrees\n- -5 degrees", ["-5 degrees", "-5 degrees"]),
        ("- [ ] Heat it\n- [x] Stir it", ["Heat it", "Stir it"]),
        ("It has: • a bar • a pool • a gym", ["It has:", "a bar", "a pool", "a gym"]),
    ],
    "nested lists": [
        ("1. Heat:\n   - oil\n   - salt\n2. Stir", ["Heat:", "oil", "salt", "Stir"]),
        ("- a\n  - b\n    - c\n- d", ["a", "b", "c", "d"]),
        ("* a\n\t1. b\n\t2. c\n* d", ["a", "b", "c", "d"]),
        (
            "1. Heat it.\n\n    Then stir it. Wait.\n\n2. Eat.",
            ["Heat it.", "Then stir it.", "Wait.", "Eat."],
        ),
        ("> - a\n> - b", ["a", "b"]),
    ],
    "Step 4:": [
        ("Step 4: Stir it. Wait.", ["Step 4: Stir it.", "Wait."]),
        ("Step 4:\nStir it.", ["Step 4:", "Stir it."]),
        ("**Step 4:** Stir it.\nStep 5. Eat it.", ["**Step 4:** Stir it.", "Step 5. Eat it."]),
        ("It is step 5. Eat it.", ["It is step 5.", "Eat it."]),
        ("- Step 4: Stir it.", ["Step 4: Stir it."]),
    ],
    "markdown headings": [
        ("# Title\nText.", ["Title", "Text."]),
        ("### The bar. The pool\nText.", ["The bar. The pool", "Text."]),
        ("Title\n=====\nText.", ["Title", "Text."]),
        ("Opening hours\n---\nText.", ["Opening hours", "Text."]),
        ("It is so.\n---\nIt is not.", ["It is so.", "It is not."]),
        ("## Title ##\n\n#hashtag is text", ["Title", "#hashtag is text"]),
    ],
    "bold leads": [
        ("**Hours:** 9 to 5. **Parking:** free.", ["**Hours:** 9 to 5.", "**Parking:** free."]),
        ("- **Hours**: 9 to 5; closed on Sunday.", ["**Hours**: 9 to 5; closed on Sunday."]),
        ("**Hours** – 9 to 5.", ["**Hours** – 9 to 5."]),
        ("__Hours:__ 9 to 5. *Parking*: none.", ["__Hours:__ 9 to 5.", "*Parking*: none."]),
        ("1. **Heat it.** Use oil.", ["Heat it.", "Use oil."]),
    ],
    "tables": [
        ("| A | B |\n|---|:-:|\n| 1 | It is. So |", ["A | B", "1 | It is. So"]),
        ("A | B\n--- | ---\n1 | 2\n\nText.", ["A | B", "1 | 2", "Text."]),
        ("Text.\n\n| 1 | 2 |\n| 3 | 4 |\n\nMore.", ["Text.", "1 | 2", "3 | 4", "More."]),
        ("| A | |\n|---|---|\n| | 2 |", ["A", "2"]),
    ],
    "fenced and indented code": [
        ("Run:\n```py\nx = 1. Y\n\nz\n```\nDone.", ["Run:", "```py\nx = 1. Y\n\nz\n```", "Done."]),
        ("~~~\na. B\n~~~", ["~~~\na. B\n~~~"]),
        (
            "Run:\n\n    x = f(1). Y\n    y = 2\n\nDone.",
            ["Run:", "x = f(1). Y\n    y = 2", "Done."],
        ),
        ("Run:\n\n\tx = f(1). Y\n\n\ty = 2\n\nDone.", ["Run:", "x = f(1). Y\n\n\ty = 2", "Done."]),
        (
            "    The hall is old. It was red.\n\n    It fell.",
            ["The hall is old.", "It was red.", "It fell."],
        ),
        ("1. Run:\n   ```\n   a. B\n   ```\n2. Stop.", ["Run:", "```\n   a. B\n   ```", "Stop."]),
        ("Use ```a. B``` here. End.", ["Use ```a. B``` here.", "End."]),
    ],
    "invisible characters": [
        ("It is.\u200b It was.", ["It is.", "It was."]),
        ("It is so. \u200bIt was.\u200b", ["It is so.", "It was."]),
        ("\ufeffIt is so. It was.", ["It is so.", "It was."]),
        ("\ufeff- one\n\u200b- two", ["one", "two"]),
        ("\ufeff# Title\nText.", ["Title", "Text."]),
        ("1.\x00 one\n2. two\x07", ["one", "two"]),
        ("It is so.\x00 It was.", ["It is so.", "It was."]),
        ("co\xadop is zero\u200bwidth.", ["co\xadop is zero\u200bwidth."]),
        ("\u200f- واحد.\n\u200f- اثنان.", ["واحد.", "اثنان."]),
        ("\u200b", []),
        ("Heat\x1cit. Stir it.", ["Heat\x1cit.", "Stir it."]),
    ],
    "line ends": [
        ("One\r\nTwo\r\n\r\nThree", ["One", "Two", "Three"]),
        ("One\rTwo\r\rThree", ["One", "Two", "Three"]),
        ("One\u2028Two\u2029Three\x85Four", ["One", "Two", "Three", "Four"]),
        (
            "It was wrapped\r\nright here. It was\u2028so.",
            ["It was wrapped\r\nright here.", "It was\u2028so."],
        ),
        ("- one\r- two\r\n- three\x85- four", ["one", "two", "three", "four"]),
        ("One\x0bTwo\x0cThree", ["One", "Two", "Three"]),
    ],
}

# What a reader would do, and the splitter does not.
LIMITS = [
    (
        "1. Heat it 2. Stir it 3. Eat it.",
        ["Heat it", "Stir it", "Eat it."],
        'numbers run on in an item without stops: they may end it ("as in passage 2.")',
    ),
    ("```\nx = 1. Y\nz", ["```\nx = 1. Y\nz"], "a fence that nothing closes opens no code"),
]


def texts(answer):
    return [claim.text for claim in split_claims(answer, record_id="r")]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        pytest.param(*case, id=f"{subject} {number}")
        for subject, cases in CASES.items()
        for number, case in enumerate(cases, 1)
    ],
)
def test_lines_become_claims(answer, expected):
    assert texts(answer) == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        pytest.param(answer, expected, marks=pytest.mark.xfail(strict=True, reason=reason))
        for answer, expected, reason in LIMITS
    ],
)
def test_known_limits_of_layout(answer, expected):
    assert texts(answer) == expected
