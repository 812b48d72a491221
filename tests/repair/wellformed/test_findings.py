"""The check of repaired texts finds what a reader would trip over, and nothing else."""

from typing import get_args

import pytest

from ragmend.records import Response, Verdict
from ragmend.repair.arms import record_answers
from ragmend.repair.assembling.repaired import repair_record
from ragmend.repair.splitting.claims import split_claims
from ragmend.repair.wellformed.findings import FindingKind, well_formedness_findings

FOUND = {
    "a bracket lost its partner": (
        "It is old (1900). It fell.",
        "It is old (1900. It fell.",
        "unbalanced_pair",
    ),
    "a quote lost its partner": (
        'He said "no." It fell.',
        'He said "no. It fell.',
        "unbalanced_pair",
    ),
    "emphasis lost its partner": ("**Old** and red.", "**Old and red.", "unbalanced_pair"),
    "a code fence is open": ("It is:\n\n```\nx\n```", "It is:\n\n```\nx", "unbalanced_pair"),
    "two commas": ("It is red, old, long.", "It is red,, long.", "doubled_punctuation"),
    "a comma before a stop": ("It is red, old.", "It is red,.", "doubled_punctuation"),
    "two stops": ("It is red. It fell.", "It is red.. It fell.", "doubled_punctuation"),
    "a space before a stop": ("It is red now.", "It is red .", "space_before_stop"),
    "two spaces": ("It is red and old.", "It is  old.", "double_space"),
    "a small beginning": ("It rained, and it fell.", "and it fell.", "lower_case_start"),
    "no stop at the end": ("It is old, and it fell.", "It is old", "missing_stop"),
    "a comma at the end": ("It is old, and it fell.", "It is old,", "hanging_end"),
    "an empty bullet": ("- Red\n- Old", "- Red\n-", "empty_item"),
    "an empty number": ("1. Red\n2. Old", "1. Red\n2.", "empty_item"),
    "a number is left out": ("1. Red\n2. Old\n3. Long", "1. Red\n3. Long", "list_numbers"),
    "the first number is gone": ("1. Red\n2. Old", "2. Old", "list_numbers"),
    "a step is left out": (
        "Step 1: Mix.\nStep 2: Bake.\nStep 3: Eat.",
        "Step 1: Mix.\nStep 3: Eat.",
        "list_numbers",
    ),
    "a heading at the end": ("# A\n\nIt is old.", "# A\n\n", "heading_without_content"),
    "a heading above another": (
        "## A\n\nIt is old.\n\n## B\n\nIt fell.",
        "## A\n\n## B\n\nIt fell.",
        "heading_without_content",
    ),
    "a bold line above another": (
        "**A**\n\nIt is old.\n\n**B**\n\nIt fell.",
        "**A**\n\n**B**\n\nIt fell.",
        "heading_without_content",
    ),
    "an item that leads to the next one": (
        "1. Pros:\n   - Red\n2. It fell.",
        "1. Pros:\n2. It fell.",
        "heading_without_content",
    ),
    "a lead-in without its list": (
        "Here they are:\n- Red\n\nIt fell.",
        "Here they are:\n\nIt fell.",
        "lead_in_without_items",
    ),
    "a table without a header": (
        "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |",
        "| 1 | 2 |\n| 3 | 4 |",
        "broken_table",
    ),
    "a contrast at the beginning": (
        "He came. However, he left.",
        "However, he left.",
        "orphaned_connective",
    ),
    "a contrast behind what went": (
        "It rained. She sang loudly. However, he left.",
        "It rained. However, he left.",
        "orphaned_connective",
    ),
    "an addition at the beginning": (
        "He came. She also left.",
        "She also left.",
        "orphaned_connective",
    ),
    "a second without a first": (
        "The first reason is rain. The second reason is wind.",
        "The second reason is wind.",
        "orphaned_connective",
    ),
    "a pronoun at the beginning": (
        "The bridge is red. It fell.",
        "It fell.",
        "orphaned_pronoun",
    ),
    "a word twice": ("Go to the old one. Take the car.", "Go to the the car.", "doubled_word"),
    "a sentence twice": (
        "The bridge is very red. It fell.",
        "The bridge is very red. The bridge is very red.",
        "doubled_sentence",
    ),
    "too many blank lines": ("Red.\n\nOld.\n\nLong.", "Red.\n\n\n\nLong.", "blank_lines"),
    "a colon at the end": ("He said: no.", "He said:", "colon_at_end"),
}

CLEAN = {
    "nothing is left": ("# A\n\nIt is old.", ""),
    "nothing was changed": ("it is  old ,, (", "it is  old ,, ("),
    "the original had it": ("we saw  it ,, ( It fell.", "we saw  it ,, ("),
    "a list counted anew": ("1. Red\n2. Old\n3. Long", "1. Red\n2. Long"),
    "a list that had gaps": ("1. Red\n3. Old\n4. Long", "1. Red\n4. Long"),
    "numbers of which the text speaks": (
        "1. Mix.\n2. Salt.\n3. Bake.\n4. Repeat step 3.",
        "1. Mix.\n3. Bake.\n4. Repeat step 3.",
    ),
    "items without stops": ("- red\n- old\n- long", "- red\n- long"),
    "a title without a stop": (
        "**Food Here**\n\nIt is good. It is dear.",
        "**Food Here**\n\nIt is good.",
    ),
    "a name with its own spelling": ("It sold. iPhone sales fell.", "iPhone sales fell."),
    "an addition behind another sentence": (
        "He came. She sang. Additionally, he left.",
        "He came. Additionally, he left.",
    ),
    "another of those that are there": (
        "One diner liked it. It was late. Another diner left.",
        "One diner liked it. Another diner left.",
    ),
    "the second passage": (
        "It is old. The second passage says it fell.",
        "The second passage says it fell.",
    ),
    "a contrast to what was cut down": (
        "The bridge is red and old and closed now. However, he left.",
        "The bridge is red and old. However, he left.",
    ),
    "a contrast to the paragraph before": (
        "He came. She sang.\n\nHowever, he left.",
        "He came.\n\nHowever, he left.",
    ),
    "it is no pronoun": (
        "The bridge is red. It is important to look up.",
        "It is important to look up.",
    ),
    "a heading above a lower one": (
        "# A\n\n## B\n\nIt is old. It fell.",
        "# A\n\n## B\n\nIt fell.",
    ),
    "a note behind the stop": (
        "It is red and old. (Passage 3)",
        "It is old. (Passage 3)",
    ),
    "a name of two equal words": (
        "A paw paw is red. It fell.",
        "A paw paw is red. A paw paw is old.",
    ),
    "an ellipsis": ("He left… It fell. It is old.", "He left... It fell."),
}


@pytest.mark.parametrize(("original", "text", "kind"), FOUND.values(), ids=FOUND.keys())
def test_what_is_not_well_formed_is_named(original, text, kind):
    assert kind in well_formedness_findings(text, original=original)
    assert well_formedness_findings(original, original=original) == ()


@pytest.mark.parametrize(("original", "text"), CLEAN.values(), ids=CLEAN.keys())
def test_what_is_well_formed_or_was_so_before_is_not_named(original, text):
    assert well_formedness_findings(text, original=original) == ()


def test_every_kind_of_finding_has_a_case():
    assert {kind for _, _, kind in FOUND.values()} == set(get_args(FindingKind))


def test_an_answer_is_looked_at_by_itself_without_an_original():
    assert well_formedness_findings("It is old ( and  red.") == ("unbalanced_pair", "double_space")
    assert well_formedness_findings("It is old (1900). However, it fell.") == ()


def test_every_condition_of_a_record_has_its_findings():
    text = "The bridge is old. It  fell."
    response = Response(record_id="r", source_id="s", generator="g", text=text, split="test")
    claims = split_claims(text, record_id="r")
    verdicts = [
        Verdict(record_id="r", claim_id=claim.claim_id, p_support=p, model="m")
        for claim, p in zip(claims, (0.1, 0.9), strict=True)
    ]
    recorded = record_answers(verdicts, [])
    answers = repair_record(response, claims, recorded, threshold=0.5, verify="all").answers
    assert {answer.condition: answer.findings for answer in answers} == {
        "original": ("double_space",),
        "removal": ("orphaned_pronoun",),
        "extractive": ("orphaned_pronoun",),
        "generative": ("orphaned_pronoun",),
    }
