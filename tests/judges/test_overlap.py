from ragmend.judges.overlap import find_uncovered_sentences
from ragmend.records import Source
from ragmend.text.reading import read_source

READING = read_source(
    Source(source_id="s", task_type="Summary", text="Bakers bake fresh bread daily.")
)


def found(answer):
    return [span.text for span in find_uncovered_sentences(READING, answer)]


def test_half_of_the_content_words_are_enough():
    assert found("Bakers bake stale rolls.") == []
    assert found("Bakers sell stale rolls.") == ["Bakers sell stale rolls."]


def test_a_sentence_of_under_four_content_words_is_let_pass():
    assert found("They sell rolls.") == []


def test_talk_about_the_source_needs_no_cover():
    assert found("According to the passage provided, bakers bake bread.") == []
