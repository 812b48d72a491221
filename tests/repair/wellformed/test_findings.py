"""The check of repaired texts finds what a reader would trip over, and nothing else."""

from time import perf_counter
from typing import get_args

import pytest

from ragmend.records import Response, Verdict
from ragmend.repair.arms import record_answers
from ragmend.repair.assembling.repaired import repair_record
from ragmend.repair.splitting.claims import split_claims
from ragmend.repair.wellformed.findings import FindingKind, well_formedness_findings

BRANCHES = "It has three branches, and the bank is old."
BANK = "The bank opened in 1990. However, it closed in May because it was poor."
STEPS = "1. Mix.\n2. Salt.\n3. Bake.\n4. Repeat steps 1-3."

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
    "brackets in the wrong order": (
        "(The bank) opened in 1990.",
        ")The bank opened( in 1990.",
        "unbalanced_pair",
    ),
    "a list marker's bracket is not a partner": (
        "a) It (the bank) is old.\nb) It fell.",
        "a) It (the bank is old.",
        "unbalanced_pair",
    ),
    "a single star": ("It is *very* red.", "It is *very red.", "unbalanced_pair"),
    "a single quote mark": ("It is 'very' red.", "It is 'very red.", "unbalanced_pair"),
    "a stop and a comma": (BANK, "The bank opened in 1990., it closed.", "doubled_punctuation"),
    "no space behind a year": (BANK, "The bank opened in 1990.However, it closed.", "fused_stop"),
    "a glued rest of a sentence": (
        "It has squares. Once you pay, it is red.",
        "It has squares.nce you pay, it is red.",
        "fused_stop",
    ),
    "no space behind a stop": ("It is good. Plow it.", "It is good.Plow it.", "fused_stop"),
    "a small letter behind a stop": (
        BANK,
        "The bank opened in 1990. it closed.",
        "lower_case_start",
    ),
    "a stop lost in mid-line": (
        "The bank is red. It was built of stone. It fell.",
        "The bank is red It fell.",
        "missing_stop",
    ),
    "a conjunction before the stop": (BRANCHES, "It has three branches, and.", "dangling_word"),
    "an article before the stop": (BRANCHES, "It has three branches, and the.", "dangling_word"),
    "a preposition before the stop": (BANK, "The bank opened in 1990 in.", "dangling_word"),
    "an article before its verb": (BANK, "The was closed.", "dangling_word"),
    "a reason alone": (BANK, "Because it was poor.", "fragment"),
    "a condition alone": ("If you pay, it opens.", "If you pay.", "fragment"),
    "half of not only": (
        "Not only is it cheap, but it is also near.",
        "Not only is it cheap.",
        "fragment",
    ),
    "half of either": ("Either you pay, or it closes.", "Either you pay.", "fragment"),
    "a noun alone": ("The bank closed in May.", "The bank.", "fragment"),
    "a time alone": (BANK, "In 1990.", "fragment"),
    "one word": ("It has rain and snow.", "Rain.", "fragment"),
    "a phrase without a verb": (
        "The old bridge of the town fell.",
        "The old bridge of the town.",
        "fragment",
    ),
    "a bullet in mid-line": (
        "- One is a.\n- Two is b.",
        "- One is a.- Two is b.",
        "item_inside_line",
    ),
    "a number in mid-line": (
        "1. One is a.\n2. Two is b.",
        "1. One is a. 2. Two is b.",
        "item_inside_line",
    ),
    "two numbers on one line": (
        "1. Mix.\n2. Bake it.",
        "1. Mix.\n2. 2 Bake it.",
        "item_inside_line",
    ),
    "a table without rows": (
        "| a | b |\n|---|---|\n| 1 | 2 |",
        "| a | b |\n|---|---|",
        "broken_table",
    ),
    "a row without a cell": (
        "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |",
        "| a | b |\n|---|---|\n| 1 |\n| 3 | 4 |",
        "broken_table",
    ),
    "a gap in numbers of which the text speaks": (
        STEPS,
        "1. Mix.\n3. Bake.\n4. Repeat steps 1-3.",
        "list_numbers",
    ),
    "a range over what is gone": (
        STEPS,
        "1. Mix.\n3. Bake.\n4. Repeat steps 1-3.",
        "false_reference",
    ),
    "a number that counts another item now": (
        "1. Mix.\n2. Salt.\n3. Bake.\n\nStep 2 is key.",
        "1. Mix.\n2. Bake.\n\nStep 2 is key.",
        "false_reference",
    ),
    "a range inside a sentence": (
        "1. Mix.\n2. Salt.\n3. Bake.\n\nRepeat steps 1-3 for each nail.",
        "1. Mix.\n2. Salt.\n\nRepeat steps 1-3 for each nail.",
        "false_reference",
    ),
    "an ordinal of what is gone": (
        "1. Mix.\n2. Salt.\n3. Bake.\n\nThe third option is best.",
        "1. Mix.\n2. Salt.\n\nThe third option is best.",
        "false_reference",
    ),
    "a number sign": (
        "1. Mix.\n2. Salt.\n3. Bake.\n\n#3 is best.",
        "1. Mix.\n2. Salt.\n\n#3 is best.",
        "false_reference",
    ),
    "as noted in": (
        "1. Mix.\n2. Salt.\n3. Bake.\n\nAs noted in 3, it is hot.",
        "1. Mix.\n2. Salt.\n\nAs noted in 3, it is hot.",
        "false_reference",
    ),
    "three over two": (
        "There are three quartiles in total:\n- Low\n- Middle\n- High",
        "There are three quartiles in total:\n- Low\n- High",
        "false_count",
    ),
    "two over one": (
        "There are two ways:\n1. Mix it.\n2. Bake it.",
        "There are two ways:\n1. Mix it.",
        "false_count",
    ),
    "since then": (
        "It opened in 1990. Since then, it has grown.",
        "Since then, it has grown.",
        "orphaned_connective",
    ),
    "others": (
        "Some say it is bad. Others say it is good.",
        "Others say it is good.",
        "orphaned_connective",
    ),
    "both": ("A is x. B is y. Both are y.", "Both are y.", "orphaned_connective"),
    "neither": ("He was not old. Neither was she.", "Neither was she.", "orphaned_connective"),
    "one hand": (
        "On the one hand, it is cheap. On the other hand, it is far.",
        "On the one hand, it is cheap.",
        "orphaned_connective",
    ),
    "this in an item": (
        "1. Run it.\n2. Wait for it to end. This may take a while.\n3. Stop it.",
        "1. Run it.\n2. This may take a while.\n3. Stop it.",
        "orphaned_pronoun",
    ),
    "this opening an item": (
        "1. Run it.\n2. Wait for the end.\n3. This may take a while.",
        "1. Run it.\n2. This may take a while.",
        "orphaned_pronoun",
    ),
    "this in mid-paragraph": (
        "He runs. Fat must be lost. This can be done slowly.",
        "He runs. This can be done slowly.",
        "orphaned_pronoun",
    ),
    "they in mid-paragraph": (
        "The hall is old. The owners are kind. They cook.",
        "The hall is old. They cook.",
        "orphaned_pronoun",
    ),
    "it at the start of a paragraph": (
        "He runs.\n\nThe hall is old.\n\nIt fell.",
        "He runs.\n\nIt fell.",
        "orphaned_pronoun",
    ),
}

CLEAN = {
    "nothing is left": ("# A\n\nIt is old.", ""),
    "nothing was changed": ("it is  old ,, (", "it is  old ,, ("),
    "the original had it": ("we saw  it ,, ( It fell.", "we saw  it ,, ("),
    "a list counted anew": ("1. Red\n2. Old\n3. Long", "1. Red\n2. Long"),
    "a list that had gaps": ("1. Red\n3. Old\n4. Long", "1. Red\n4. Long"),
    "a number of which the text speaks counts the same item": (
        "1. Mix.\n2. Salt.\n3. Bake.\n\nStep 1 is key.",
        "1. Mix.\n2. Bake.\n\nStep 1 is key.",
    ),
    "points of a passage": (
        "1. Red (Passage 1, point 1)\n2. Old (Passage 1, point 2)",
        "1. Red (Passage 1, point 1)",
    ),
    "a count that was wrong before": (
        "There are two ways:\n1. Mix it.\n2. Bake it.\n3. Eat it.",
        "There are two ways:\n1. Mix it.",
    ),
    "a number that counts no items": (
        "It takes two hours and these tools:\n- Rake\n- Hoe\n- Axe",
        "It takes two hours and these tools:\n- Rake\n- Hoe",
    ),
    "an item without a verb": (
        "- A free car park, a pool and a bar.\n- It is old.",
        "- A free car park and a pool.\n- It is old.",
    ),
    "an order": ("Mix it and plow it well. It is good.", "Plow it. It is good."),
    "a condition with its main clause": (
        "If you pay, it opens, and you may go in.",
        "If you pay, it opens.",
    ),
    "a condition without a comma": (
        "It is good, and it opens if you pay for it.",
        "If you pay it opens. It is good.",
    ),
    "an abbreviation before a comma": (
        "It is the home of Apple Inc., a firm, and it fell. It is old.",
        "It is the home of Apple Inc., a firm. It is old.",
    ),
    "an abbreviation before a small letter": (
        "It has pens etc. for all, and it fell.",
        "It has pens etc. for all.",
    ),
    "a file": ("It fell. Open x.txt now.", "Open notes.txt now."),
    "a web address": ("See x.org/Help. It is red. It fell.", "See x.org/Help. It fell."),
    "a preposition the original ends with": (
        "It is easy to live with. It is old.",
        "It is easy to live with.",
    ),
    "a name in a new place": (
        "They sell figs in Rome. They sell pears.",
        "They sell pears in Rome. They sell figs.",
    ),
    "a list in a line": (
        "It has two parts: 1) It is red. 2) It is old. 3) It fell.",
        "It has two parts: 1) It is red. 2) It fell.",
    ),
    "the dogs' food": ("It is 'red' and the dogs' food. It fell.", "It is the dogs' food."),
    "pronouns in a row": (
        "The hall is red. It was built of stone. It fell.",
        "The hall is red. It fell.",
    ),
    "an item under its head": (
        "The hall:\n- Some like the roof.\n- It is old.",
        "The hall:\n- It is old.",
    ),
    "a pronoun behind what was cut": (
        "The hall is red and very old and wide. It fell.",
        "The hall is red and old. It fell.",
    ),
    "both of what is there": ("A is x. B is y. Both are y. C fell.", "A is x. B is y. Both are y."),
    "both hands": (
        "On the one hand, it is cheap. On the other hand, it is far. It fell.",
        "On the one hand, it is cheap. On the other hand, it is far.",
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


def test_long_words_and_many_marks_are_read_in_reasonable_time():
    original = f"{'a' * 20_000}{'(' * 2_000}{chr(39) + ' ' * 2_000}{'1. ' * 2_000}"
    started = perf_counter()
    found = well_formedness_findings(f"{original}.", original=original)
    assert found == ("doubled_punctuation", "space_before_stop")
    assert perf_counter() - started < 10
