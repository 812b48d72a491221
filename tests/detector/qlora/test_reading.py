"""How an answer of the generative detector is read."""

import pytest

from ragmend.detector.qlora.reading import read_answer
from ragmend.records import Response
from ragmend.trained import DetectorAnswer

RESPONSE = Response(
    record_id="7", source_id="s", generator="g", text="It opened in 1990 in Rome.", split="test"
)


def read(text, *, ended=True, **more):
    answer = DetectorAnswer(record_id="7", text=text, n_tokens=5, ended=ended, **more)
    return read_answer(answer, RESPONSE, run_id="m/seed-1")


def test_spans_are_found_in_the_response():
    found = read('{"hallucinated": true, "spans": ["1990", "Rome"]}', left_out_fragments=2)
    assert found.verdict == "hallucinated"
    assert [(span.start, span.end, span.text) for span in found.spans] == [
        (13, 17, "1990"),
        (21, 25, "Rome"),
    ]
    assert (found.run_id, found.record_id, found.status) == ("m/seed-1", "7", "ok")
    assert found.left_out_fragments == 2
    assert not found.contradicts
    assert found.raw == '{"hallucinated": true, "spans": ["1990", "Rome"]}'


def test_no_span_and_a_false_is_clean():
    found = read('{"hallucinated": false, "spans": []}')
    assert (found.verdict, found.spans, found.contradicts) == ("clean", (), False)


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ('{"hallucinated": false, "spans": ["1990"]}', "clean"),
        ('{"hallucinated": true, "spans": []}', "hallucinated"),
        ('{"hallucinated": true, "spans": ["  "]}', "hallucinated"),
    ],
)
def test_the_boolean_is_the_verdict_and_a_contradiction_is_named(text, verdict):
    found = read(text)
    assert (found.verdict, found.contradicts, found.status) == (verdict, True, "ok")


def test_a_span_that_stands_nowhere_is_named_and_changes_no_verdict():
    found = read('{"hallucinated": true, "spans": ["Paris"]}')
    assert found.verdict == "hallucinated"
    assert (found.spans, found.unlocated, found.contradicts) == ((), ("Paris",), False)


@pytest.mark.parametrize("text", ["", " \n\t\n"])
def test_an_answer_without_text_is_empty(text):
    found = read(text)
    assert (found.verdict, found.status, found.raw) == ("empty", "empty", text)


@pytest.mark.parametrize(
    "text", ["", "\n\n\n", '{"hallucinated": false, "spans": []}', '{"hallucinated": true, "sp']
)
def test_an_answer_that_never_ended_is_truncated_whatever_it_says(text):
    found = read(text, ended=False)
    assert (found.verdict, found.status) == ("unparsed", "truncated")


@pytest.mark.parametrize(
    "text",
    [
        "The answer is clean.",
        '{"hallucinated": true}',
        '{"spans": ["1990"]}',
        '{"hallucinated": "true", "spans": []}',
        '{"hallucinated": 1, "spans": []}',
        '{"hallucinated": null, "spans": []}',
        '{"hallucinated": true, "spans": "1990"}',
        '{"hallucinated": true, "spans": [1990]}',
        '{"hallucinated": true, "spans": null}',
        '{"Hallucinated": true, "spans": []}',
        '{"hallucinated": true, "spans": ["1990"]',
        '{"hallucinated": true, "spans": []} {"hallucinated": false, "spans": []}',
        '{"hallucinated": false, "spans": []} But the year is wrong.',
        '[{"hallucinated": false, "spans": []}',
    ],
)
def test_what_cannot_be_read_is_no_verdict(text):
    found = read(text)
    assert (found.verdict, found.status, found.raw) == ("unparsed", "malformed", text)
    assert found.spans == ()
