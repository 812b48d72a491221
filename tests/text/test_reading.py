import pytest

from ragmend.records import Source
from ragmend.text.names import names
from ragmend.text.reading import read_source

NULLS = Source(
    source_id="f",
    task_type="Data2txt",
    fields={"name": "Blue Fig", "attributes": {"Music": None, "7 zithers": None}},
)
PEOPLE = Source(
    source_id="s",
    task_type="Summary",
    text="John Smith and Mary Jones met Robert Lee Frost, a mayor, and José Núñez of Rome.",
)


def test_a_null_states_nothing_but_can_be_found():
    reading = read_source(NULLS)
    position = reading.position_of["f-attributes.Music"]
    assert "music" not in reading.stems | reading.content | reading.plain_stems
    assert reading.content_F[position] == frozenset()
    assert ("music", "unknown") not in reading.bigrams | reading.name_pairs
    assert ("any", "7") not in reading.number_keys
    assert reading.words_F[position]
    assert reading.tfidf.weights_FV[position].nnz > 0


@pytest.mark.parametrize(
    ("name", "is_stated"),
    [
        ("John Smith", True),
        ("Jones", True),
        ("Robert Lee Frost", True),
        ("Robert Frost", True),
        ("Mayor Frost", True),
        ("Jose Nunez", True),
        ("John Jones", False),
        ("Smith Mary", False),
        ("Frost Robert", False),
        ("Ann Smith", False),
    ],
)
def test_the_words_of_a_name_stand_together_in_the_source(name, is_stated):
    (found,) = names(f"we met {name}")
    assert read_source(PEOPLE).states_name(found) is is_stated
