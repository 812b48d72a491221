"""The embedded detector flags what strays from the source."""

from ragmend.detector.lexical import THRESHOLD, detect_response, stray_score
from ragmend.records import Response, Source
from ragmend.text.reading import read_source

SOURCE = Source(
    source_id="s",
    task_type="Summary",
    text="The old bridge over the river Alm was closed in May. Repairs cost 3 million dollars.",
)
READING = read_source(SOURCE)


def detect(text):
    response = Response(record_id="1", source_id="s", generator="g", text=text, split="test")
    return detect_response(READING, response, run_id="lexical")


def test_a_copied_sentence_is_clean_and_an_invented_one_is_a_span():
    text = "The old bridge was closed in May. Purple elephants invaded Paris yesterday morning."
    found = detect(text)
    assert found.verdict == "hallucinated"
    assert [span.text for span in found.spans] == [text[34:]]
    assert detect("The old bridge was closed in May.").verdict == "clean"


def test_an_answer_without_text_is_empty_not_clean():
    assert detect(" \n").verdict == "empty"


def test_foreign_numbers_raise_the_score():
    assert stray_score(READING, "Repairs cost 3 million dollars.") == 0.0
    assert stray_score(READING, "Repairs cost 4 million dollars.") > 0.0
    assert THRESHOLD > 0.0
