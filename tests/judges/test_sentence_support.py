from ragmend.judges.sentence_support import find_distant_sentences
from ragmend.records import Source
from ragmend.text.reading import read_source

READING = read_source(
    Source(
        source_id="s",
        task_type="Summary",
        text="Bakers bake fresh bread daily. Fishers sell smoked trout at the harbour market.",
    )
)


def found(answer):
    return [span.text for span in find_distant_sentences(READING, answer)]


def test_a_sentence_near_one_fragment_is_let_pass():
    assert found("Fishers sell trout at the market. Bakers bake bread.") == []


def test_a_sentence_that_mixes_fragments_thinly_is_found():
    sentence = "Bakers praised engineers whose harbour cranes lifted containers."
    assert found(f"Bakers bake bread. {sentence}") == [sentence]


def test_a_source_without_words_supports_nothing():
    empty = read_source(Source(source_id="e", task_type="Summary", text="…"))
    (span,) = find_distant_sentences(empty, "Fishers sell smoked trout.")
    assert span.start == 0
