"""Assembly over odd texts: what it may never do, whatever the answer looks like."""

import os
import random
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmend.datasets.ragtruth import find_files, load_ragtruth
from ragmend.records import TASKS
from ragmend.repair.arms import Decision
from ragmend.repair.assembling.assembly import assemble, reconstruct
from ragmend.repair.splitting.claims import split_claims

PIECES = st.sampled_from(
    [
        "It was red.", "However, it fell.", "He left; she stayed, and they sang.", "(a) Mix it.",
        "Here are the steps:", "Ingredients:", "**Food Here**", "**Hours:** 9 to 5.", "Is it?",
        "## Food", "### 2. Place", "| a | b |", "|---|---|", "| 1 | 2 |", "```", "x = [1, 2]",
        "Step 1: Mix it.", "Step 2: Eat it.", "Another diner left.", "This means that it fell.",
        "Repeat step 2.", "“It is old.", "It fell.”", "*", "1.", "> It is so.", "日本は島国です。",
        "**", '"', "(", ")", "---", "\u2028", "ﬁ ǆ ß", "[x](http://x.org/a)", "etc., and so on",
    ]
)  # fmt: skip
JOINTS = st.sampled_from(
    [
        " ",
        "\n",
        "\n\n",
        "\n- ",
        "\n  - ",
        "\n1. ",
        "\n2. ",
        "\n   a) ",
        "\nii. ",
        "\r\n",
        ", and ",
        "",
    ]
)
REPLACEMENTS = ("A new one.", "However, it is new", "Qux 77 (see there).", "| odd |")


@st.composite
def answers(draw):
    pieces = draw(st.lists(st.tuples(PIECES, JOINTS), min_size=1, max_size=12))
    return "".join(piece + joint for piece, joint in pieces)


def decide(claims, seed, *, p_keep=0.5, replacements=()):
    rng = random.Random(seed)
    decisions = []
    for claim in claims:
        if rng.random() < p_keep:
            decisions.append(Decision("keep", claim.text))
        elif replacements and rng.random() < 0.5:
            kind = rng.choice(["substitute", "rewrite"])
            decisions.append(Decision(kind, rng.choice(replacements)))
        else:
            decisions.append(Decision("drop", ""))
    return decisions


@given(answers(), st.integers(0, 2**16))
def test_recorded_actions_alone_give_the_text(answer, seed):
    claims = split_claims(answer, record_id="r")
    decisions = decide(claims, seed, replacements=REPLACEMENTS)
    assembled = assemble(answer, claims, decisions, arm="generative")
    assert reconstruct(answer, claims, assembled.actions) == assembled.text
    assert [a.kind for a in assembled.actions] == [d.kind for d in decisions]


@given(answers(), st.integers(0, 2**16))
def test_no_letter_or_digit_is_new_but_list_numbers(answer, seed):
    claims = split_claims(answer, record_id="r")
    decisions = decide(claims, seed, replacements=REPLACEMENTS)
    assembled = assemble(answer, claims, decisions, arm="generative")
    is_counted = any("renumber" in action.edits for action in assembled.actions)
    allowed = Counter(_letters(answer + "".join(d.text for d in decisions if d.kind != "keep")))
    new = Counter(_letters(assembled.text)) - allowed
    assert is_counted or not new


@given(answers())
def test_an_answer_of_which_all_is_kept_is_byte_identical(answer):
    claims = split_claims(answer, record_id="r")
    assembled = assemble(answer, claims, decide(claims, 0, p_keep=2), arm="removal")
    assert assembled.text == answer
    assert all(action.edits == () for action in assembled.actions)


@given(answers())
def test_an_answer_of_which_all_is_dropped_is_empty(answer):
    claims = split_claims(answer, record_id="r")
    assembled = assemble(answer, claims, decide(claims, 0, p_keep=-1), arm="removal")
    assert assembled.text == ("" if claims else answer)


@given(answers(), st.integers(0, 2**16))
def test_what_stands_for_a_claim_stands_in_the_text(answer, seed):
    claims = split_claims(answer, record_id="r")
    assembled = assemble(answer, claims, decide(claims, seed), arm="removal")
    position = 0
    for action in assembled.actions:
        position = assembled.text.index(action.text, position) + len(action.text)


@pytest.mark.skipif("RAGMEND_DATA" not in os.environ, reason="RAGMEND_DATA is not set")
def test_real_answers_are_rebuilt_from_their_actions():
    folder = Path(os.environ["RAGMEND_DATA"]) / "ragtruth"
    dataset = load_ragtruth(find_files(folder, "train"), split="train", tasks=TASKS)
    for number, response in enumerate(dataset.responses[::10]):
        claims = split_claims(response.text, record_id=response.record_id)
        decisions = decide(claims, number, replacements=REPLACEMENTS)
        assembled = assemble(response.text, claims, decisions, arm="generative")
        assert reconstruct(response.text, claims, assembled.actions) == assembled.text


def _letters(text):
    return (c for character in text if character.isalnum() for c in character.casefold())
