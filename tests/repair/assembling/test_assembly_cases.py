"""Worked cases of assembly: what a person would write when these claims go."""

import pytest

from ragmend.repair.arms import Decision
from ragmend.repair.assembling.assembly import assemble, reconstruct
from ragmend.repair.splitting.claims import split_claims


def repair(answer, dropped=(), replaced=(), kind="substitute"):
    """Drop or replace the claims that begin with the given words; keep the rest."""
    claims = split_claims(answer, record_id="r")
    changes = dict.fromkeys(dropped, "") | dict(replaced)
    decisions = []
    for claim in claims:
        start = next((start for start in changes if claim.text.startswith(start)), None)
        if start is None:
            decisions.append(Decision("keep", claim.text))
        else:
            text = changes[start]
            decisions.append(Decision(kind if text else "drop", text))
    n_changed = sum(decision.kind != "keep" for decision in decisions)
    assert n_changed == len(changes), [claim.text for claim in claims]
    assembled = assemble(answer, claims, decisions, arm="extractive")
    assert reconstruct(answer, claims, assembled.actions) == assembled.text
    kinds = [decision.kind for decision in decisions]
    assert [action.kind for action in assembled.actions] == kinds
    return assembled


def edits(assembled):
    return [edit for action in assembled.actions for edit in action.edits]


LISTS = {
    "a middle item goes": ("1. Red\n2. Old\n3. Long", ["Old"], "1. Red\n2. Long"),
    "the first item goes": ("1. Red\n2. Old\n3. Long", ["Red"], "1. Old\n2. Long"),
    "the last item goes": ("1. Red\n2. Old\n3. Long", ["Long"], "1. Red\n2. Old"),
    "letters": ("a) Red\nb) Old\nc) Long", ["Red"], "a) Old\nb) Long"),
    "capitals": ("A) Red\nB) Old\nC) Long", ["Old"], "A) Red\nB) Long"),
    "Roman numbers": ("i. Red\nii. Old\niii. Long\niv. Dry", ["Old"], "i. Red\nii. Long\niii. Dry"),
    "in brackets": ("(1) Red\n(2) Old\n(3) Long", ["Red"], "(1) Old\n(2) Long"),
    "steps": (
        "Step 1: Mix it.\nStep 2: Bake it.\nStep 3: Eat it.",
        ["Step 2"],
        "Step 1: Mix it.\nStep 2: Eat it.",
    ),
    "steps as bold titles": (
        "**Step 1: Mix**\n\nMix it.\n\n**Step 2: Bake**\n\nBake it.\n\n**Step 3: Eat**\n\nEat it.",
        ["Step 1", "Mix it"],
        "**Step 1: Bake**\n\nBake it.\n\n**Step 2: Eat**\n\nEat it.",
    ),
    "a list that begins with 3": ("3. Red\n4. Old\n5. Long", ["Red"], "3. Old\n4. Long"),
    "two digits": (
        "8. Red\n9. Old\n10. Long\n11. Dry",
        ["Old"],
        "8. Red\n9. Long\n10. Dry",
    ),
    "a list that skips keeps its numbers": ("1. Red\n3. Old\n4. Long", ["Old"], "1. Red\n4. Long"),
    "a list of ones keeps them": ("1. Red\n1. Old\n1. Long", ["Old"], "1. Red\n1. Long"),
    "two lists are counted apart": (
        "Pros are these:\n1. Red\n2. Old\n\nCons are these:\n1. Long\n2. Dry",
        ["Red", "Long"],
        "Pros are these:\n1. Old\n\nCons are these:\n1. Dry",
    ),
    "a list that goes on behind a paragraph": (
        "1. Red\n\nIt is very red.\n\n2. Old\n\nIt is very old.\n\n3. Long",
        ["Red", "It is very red"],
        "1. Old\n\nIt is very old.\n\n2. Long",
    ),
    "an inner list by itself": (
        "1. Colours\n   1. Red\n   2. Blue\n2. Ages\n   1. Old",
        ["Red"],
        "1. Colours\n   1. Blue\n2. Ages\n   1. Old",
    ),
    "an outer list with its inner ones": (
        "1. Colours\n   a) Red\n   b) Blue\n2. Ages\n   a) Old\n3. Ways\n   a) Long",
        ["Ages", "Old"],
        "1. Colours\n   a) Red\n   b) Blue\n2. Ways\n   a) Long",
    ),
    "an item's second sentence takes its marker": (
        "1. It is red. It shines.\n2. It is old.\n3. It is long.",
        ["It is red", "It is old"],
        "1. It shines.\n2. It is long.",
    ),
    "numbers of which the text speaks stay": (
        "1. Mix it.\n2. Salt it.\n3. Bake it.\n4. Repeat step 3.",
        ["Salt it"],
        "1. Mix it.\n3. Bake it.\n4. Repeat step 3.",
    ),
    "the steps in a range stay": (
        "1. Mix it.\n2. Salt it.\n3. Bake it.\n4. Repeat steps 1-3 for each pan.",
        ["Salt it"],
        "1. Mix it.\n3. Bake it.\n4. Repeat steps 1-3 for each pan.",
    ),
    "an option by number": (
        "1. Mix it.\n2. Salt it.\n3. Bake it.\n\nOption 3 is best.",
        ["Salt it"],
        "1. Mix it.\n3. Bake it.\n\nOption 3 is best.",
    ),
    "an option by letter": (
        "A) Mix it.\nB) Salt it.\nC) Bake it.\n\nOption C is best.",
        ["Salt it"],
        "A) Mix it.\nC) Bake it.\n\nOption C is best.",
    ),
    "an option by order": (
        "1. Mix it.\n2. Salt it.\n3. Bake it.\n\nThe third option is best.",
        ["Salt it"],
        "1. Mix it.\n3. Bake it.\n\nThe third option is best.",
    ),
    "a number noted": (
        "1. Mix it.\n2. Salt it.\n3. Bake it.\n\nAs noted in 3, it is hot.",
        ["Salt it"],
        "1. Mix it.\n3. Bake it.\n\nAs noted in 3, it is hot.",
    ),
    "a number sign": (
        "1. Mix it.\n2. Salt it.\n3. Bake it.\n\n#3 is best.",
        ["Salt it"],
        "1. Mix it.\n3. Bake it.\n\n#3 is best.",
    ),
    "a method, a reason, a way, a number": (
        "1. Mix it.\n2. Salt it.\n3. Bake it.\n\nMethod 2, reason 3, way 2 and no. 3 are best.",
        ["Mix it"],
        "2. Salt it.\n3. Bake it.\n\nMethod 2, reason 3, way 2 and no. 3 are best.",
    ),
    "a number that stays the same is no hindrance": (
        "1. Mix it.\n2. Salt it.\n3. Bake it.\n\nStep 1 is best.",
        ["Salt it"],
        "1. Mix it.\n2. Bake it.\n\nStep 1 is best.",
    ),
    "the above steps are none in particular": (
        "1. Mix it.\n2. Salt it.\n3. Bake it.\n\nThe above steps are best.",
        ["Mix it"],
        "1. Salt it.\n2. Bake it.\n\nThe above steps are best.",
    ),
    "so many minutes are no step": (
        "1. Mix it.\n2. Salt it.\n3. Bake it.\n\nIt is done in 3 minutes.",
        ["Salt it"],
        "1. Mix it.\n2. Bake it.\n\nIt is done in 3 minutes.",
    ),
    "passages are no list": (
        "Passage 1: It is red.\nPassage 2: It is old.\nPassage 3: It is long.",
        ["Passage 2"],
        "Passage 1: It is red.\nPassage 3: It is long.",
    ),
    "bullets": ("- Red\n- Old\n- Long", ["Old"], "- Red\n- Long"),
    "an orphaned sub-list moves out": (
        "- Colours\n  - Red\n  - Blue\n- Ages",
        ["Colours"],
        "- Red\n- Blue\n- Ages",
    ),
    "an orphaned sub-list of an orphaned one": (
        "- Colours\n  - Warm\n    - Red\n- Ages",
        ["Colours", "Warm"],
        "- Red\n- Ages",
    ),
}


@pytest.mark.parametrize(("answer", "dropped", "expected"), LISTS.values(), ids=LISTS.keys())
def test_lists(answer, dropped, expected):
    assert repair(answer, dropped).text == expected


HEADINGS = {
    "an unsupported heading over supported text stays": (
        "For Monday, April 24th:\n- It rains.\n\nFor Tuesday, April 25th:\n- It snows.",
        ["For Monday", "For Tuesday"],
        "For Monday, April 24th:\n- It rains.\n\nFor Tuesday, April 25th:\n- It snows.",
    ),
    "an unsupported lead-in that turns its items over stays": (
        "You should avoid:\n- sugar\n- salt",
        ["You should"],
        "You should avoid:\n- sugar\n- salt",
    ),
    "it stays over what is left": (
        "You should avoid:\n- sugar\n- salt",
        ["You should", "sugar"],
        "You should avoid:\n- salt",
    ),
    "and goes with the last of it": (
        "It is sweet.\n\nYou should avoid:\n- sugar\n- salt",
        ["You should", "sugar", "salt"],
        "It is sweet.",
    ),
    "an unsupported step keeps its items and is counted": (
        "Step 1: Open it\n- Click it.\n\nStep 2: Shut it\n- Tap.\n\nStep 3: Use Kodi\n- Run it.",
        ["Step 2", "Tap.", "Step 3"],
        "Step 1: Open it\n- Click it.\n\nStep 2: Use Kodi\n- Run it.",
    ),
    "an unsupported heading above a supported one": (
        "# All\n\n## Food\n\nIt is good.\n\n## Place\n\nIt is loud.",
        ["All", "Place", "It is loud"],
        "# All\n\n## Food\n\nIt is good.",
    ),
    "an unsupported heading over nothing from the start goes": (
        "It is red. It is old.\n\n## Food\n",
        ["Food"],
        "It is red. It is old.\n",
    ),
    "an unsupported header over rows stays": (
        "| Eat | Avoid |\n|---|---|\n| figs | salt |",
        ["Eat | Avoid"],
        "| Eat | Avoid |\n|---|---|\n| figs | salt |",
    ),
    "a markdown heading": (
        "## Food\n\nIt is good.\n\n## Place\n\nIt is loud.",
        ["It is good"],
        "## Place\n\nIt is loud.",
    ),
    "a heading of a higher rank stays for its other part": (
        "# All\n\n## Food\n\nIt is good.\n\n## Place\n\nIt is loud.",
        ["It is good"],
        "# All\n\n## Place\n\nIt is loud.",
    ),
    "and goes with its last part": (
        "# All\n\n## Food\n\nIt is good.\n\n# Rest\n\nIt is loud.",
        ["It is good"],
        "# Rest\n\nIt is loud.",
    ),
    "a bold title": (
        "**Food Here**\n\nIt is good.\n\n**Place Here**\n\nIt is loud.",
        ["It is loud"],
        "**Food Here**\n\nIt is good.",
    ),
    "a name with a colon": (
        "Pros:\n- Red\n- Old\n\nCons:\n- Long",
        ["Red", "Old"],
        "Cons:\n- Long",
    ),
    "part of the content is enough": (
        "Pros:\n- Red\n- Old\n\nCons:\n- Long",
        ["Red"],
        "Pros:\n- Old\n\nCons:\n- Long",
    ),
    "an item that is a heading": (
        "1. Pros:\n   - Red\n2. Cons:\n   - Long\n3. Ways:\n   - Dry",
        ["Red"],
        "1. Cons:\n   - Long\n2. Ways:\n   - Dry",
    ),
    "a lead-in": (
        "It is a bridge.\n\nHere are the facts:\n- It is red.\n- It is old.\n\nGo and see it.",
        ["It is red", "It is old"],
        "It is a bridge.\n\nGo and see it.",
    ),
    "a lead-in above headings": (
        "It is so.\n\nHere are the facts:\n\nPros:\n- Red\n- Old\n\nCons:\n- Long\n- Dry",
        ["Red", "Long"],
        "It is so.\n\nHere are the facts:\n\nPros:\n- Old\n\nCons:\n- Dry",
    ),
    "a lead-in that opens an answer leads into all of it": (
        "Sure! Here is a summary of the article:\n\nIt is red.\n\nIt is old.",
        ["It is red"],
        "Sure! Here is a summary of the article:\n\nIt is old.",
    ),
    "nothing is left": (
        "Here is a summary of the article:\n\n## Food\n\nIt is good.",
        ["It is good"],
        "",
    ),
    "a heading over nothing from the start stays": (
        "It is red. It is old.\n\n## Food\n",
        ["It is red"],
        "It is old.\n\n## Food\n",
    ),
    "a table goes with its last row": (
        "It is so.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nIt is old.",
        ["1 | 2"],
        "It is so.\n\nIt is old.",
    ),
    "a table keeps its header and rule": (
        "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |",
        ["a | b", "1 | 2"],
        "| a | b |\n|---|---|\n| 3 | 4 |",
    ),
    "code goes with its lead-in": (
        "It is so.\n\nUse the following code:\n\n```\nx = 1\n```\n\nIt is old.",
        ["```"],
        "It is so.\n\nIt is old.",
    ),
}


@pytest.mark.parametrize(("answer", "dropped", "expected"), HEADINGS.values(), ids=HEADINGS.keys())
def test_headings_and_lead_ins(answer, dropped, expected):
    assert repair(answer, dropped).text == expected


CONNECTIVES = {
    "a contrast": ("He came. She sang. However, he left.", ["She sang"], "He came. He left."),
    "a cause": ("It rained. Therefore, it was wet.", ["It rained"], "It was wet."),
    "an example": ("He eats fruit. For example, he likes figs.", ["He eats"], "He likes figs."),
    "a phrase": ("It is slow. Despite these flaws, it sells.", ["It is slow"], "It sells."),
    "a coordinator": ("It rained. But the sun came out.", ["It rained"], "The sun came out."),
    "an inference": (
        "It rained. This means that the road is wet.",
        ["It rained"],
        "The road is wet.",
    ),
    "an inference about anything": (
        "It rained. This means that roads are wet.",
        ["It rained"],
        "Roads are wet.",
    ),
    "a weaker inference stays": (
        "It rained. This suggests that the road is wet.",
        ["It rained"],
        "This suggests that the road is wet.",
    ),
    "a condition stays": (
        "Salt it. Otherwise, it is bland. Eat it.",
        ["Salt it"],
        "Otherwise, it is bland. Eat it.",
    ),
    "an order stays": (
        "The first reason is rain. The second reason is wind.",
        ["The first"],
        "The second reason is wind.",
    ),
    "an addition has something to add to": (
        "He came. She sang. Additionally, he left.",
        ["She sang"],
        "He came. Additionally, he left.",
    ),
    "an addition has nothing to add to": (
        "She sang. Additionally, he left.",
        ["She sang"],
        "He left.",
    ),
    "also": ("She sang. He also danced.", ["She sang"], "He danced."),
    "another": (
        "One diner liked it. Another diner left.",
        ["One diner"],
        "A diner left.",
    ),
    "another before a vowel": (
        "One option is tea. Another option is milk.",
        ["One option"],
        "An option is milk.",
    ),
    "another, with one before": (
        "One diner liked it. It was late. Another diner left.",
        ["It was late"],
        "One diner liked it. Another diner left.",
    ),
    "another without a noun": (
        "One of them came. Another called.",
        ["One of"],
        "Another called.",
    ),
    "what it hangs on is there": (
        "He came. However, he left. It rained.",
        ["It rained"],
        "He came. However, he left.",
    ),
    "a paragraph hangs on the one before": (
        "He came. She sang.\n\nHowever, he left.",
        ["She sang"],
        "He came.\n\nHowever, he left.",
    ),
    "a paragraph that lost the one before": (
        "It was so.\n\nHe came. She sang.\n\nHowever, he left.",
        ["He came", "She sang"],
        "It was so.\n\nHe left.",
    ),
    "a conclusion draws on the whole answer": (
        "He came.\n\nShe sang.\n\nTherefore, it was loud.",
        ["She sang"],
        "He came.\n\nTherefore, it was loud.",
    ),
    "what hung on nothing stays": (
        "However, he left. It rained.",
        ["It rained"],
        "However, he left.",
    ),
    "a condition of time is no next step": (
        "Cool it. Then, and only then, cook it.",
        ["Cool it"],
        "Then, and only then, cook it.",
    ),
    "one side without the other": (
        "On the one hand, it is cheap. On the other hand, it is far.",
        ["On the other"],
        "It is cheap.",
    ),
    "the other side without the one": (
        "On the one hand, it is cheap. On the other hand, it is far.",
        ["On the one"],
        "It is far.",
    ),
    "without a comma it is another word": (
        "It rained. However hard he tried, he lost.",
        ["It rained"],
        "However hard he tried, he lost.",
    ),
}


@pytest.mark.parametrize(
    ("answer", "dropped", "expected"), CONNECTIVES.values(), ids=CONNECTIVES.keys()
)
def test_connectives(answer, dropped, expected):
    assembled = repair(answer, dropped)
    assert assembled.text == expected
    kept = [action.text for action in assembled.actions if action.kind == "keep"]
    is_stripped = any(text not in answer for text in kept)
    assert ("strip_connective" in edits(assembled)) == is_stripped


def test_a_contrast_to_a_sentence_of_the_source_is_not_claimed():
    answer = "It is cheap. However, it is loud."
    replaced = {"It is cheap": "It has a garden."}
    assert repair(answer, replaced=replaced).text == "It has a garden. It is loud."
    assert repair(answer, replaced=replaced, kind="rewrite").text == (
        "It has a garden. However, it is loud."
    )


def test_an_addition_to_a_sentence_of_the_source_stays():
    answer = "It is cheap. Additionally, it is loud."
    assert repair(answer, replaced={"It is cheap": "It has a garden."}).text == (
        "It has a garden. Additionally, it is loud."
    )


def test_a_substitute_brings_no_contrast_to_what_it_does_not_stand_behind():
    answer = "It is cheap. It is loud."
    replaced = {"It is loud": "However, it has a garden."}
    assert repair(answer, replaced=replaced).text == "It is cheap. It has a garden."


def test_a_supported_heading_without_content_is_still_a_keep():
    answer = "## Food\n\nIt is good.\n\n## Place\n\nIt is loud."
    first = repair(answer, ["It is good"]).actions[0]
    assert (first.kind, first.text, first.edits) == ("keep", "", ("drop_without_content",))


def test_what_is_counted_anew_is_recorded():
    actions = repair("1. Red\n2. Old\n3. Long", ["Red"]).actions
    assert [action.edits for action in actions] == [(), ("renumber",), ("renumber",)]
    assert [action.text for action in actions] == ["", "Old", "Long"]
    actions = repair("Step 1: Mix it.\nStep 2: Eat it.", ["Step 1"]).actions
    assert (actions[1].text, actions[1].edits) == ("Step 1: Eat it.", ("renumber",))


def test_numbers_stay_where_no_action_says_that_they_were_changed():
    answer = "1. Red\n2. Old"
    claims = split_claims(answer, record_id="r")
    actions = [
        action.model_copy(update={"edits": ()}) for action in repair(answer, ["Red"]).actions
    ]
    assert reconstruct(answer, claims, actions) == "2. Old"


def test_an_unsupported_heading_that_stays_is_still_a_drop():
    assembled = repair("You should avoid:\n- sugar\n- salt", ["You should"])
    first = assembled.actions[0]
    assert (first.kind, first.text, first.edits) == ("drop", "You should avoid:", ("keep_head",))
