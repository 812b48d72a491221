"""Bare numbers of a source's list go, where its passage counts up."""

import pytest

from ragmend.records import Source
from ragmend.repair.extracting.list_numbers import listed_numbers, without_list_numbers
from ragmend.text.fragments import source_fragments


def counted(text):
    found = listed_numbers(source_fragments(Source(source_id="s", task_type="QA", text=text)))
    return {path: sorted(numbers) for path, numbers in found.items()}


def test_a_passage_that_counts_up_has_numbers():
    passage = "passage 1:1 Soak the nail. 2 Wrap the nail. 3 Repeat this step."
    assert counted(passage) == {"passage 1": [1, 2, 3]}


def test_a_number_alone_counts_nothing():
    assert counted("passage 1:7 Dwarfs live here. The sun shone.")["passage 1"] == []


def test_passages_do_not_count_together():
    text = "passage 1:1 Soak the nail.\n\npassage 2:2 Wrap the nail."
    assert counted(text) == {"passage 1": [], "passage 2": []}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("4 Repeat this step for each nail.", "Repeat this step for each nail."),
        ("Step 4 In the menu, choose one.", "In the menu, choose one."),
        ("Stir in the pot. 4", "Stir in the pot."),
        ("Stir in the pot. 4.", "Stir in the pot."),
        ("7 Dwarfs live here.", "7 Dwarfs live here."),
        ("4 cups are enough.", "4 cups are enough."),
    ],
)
def test_only_counted_numbers_go(text, expected):
    assert without_list_numbers(text, frozenset({3, 4})) == expected
