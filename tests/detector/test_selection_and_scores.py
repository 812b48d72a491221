"""The population is what one run flagged; the scores are the protocol's."""

import pytest

from ragmend.detector.scores import score_detections
from ragmend.detector.selection import select_flagged
from ragmend.errors import AccountingError
from ragmend.records import Detection, GoldSpan, Response, Source, Span

SOURCES = {
    "q": Source(source_id="q", task_type="QA", text="x", question="?"),
    "s": Source(source_id="s", task_type="Summary", text="x"),
}


def response(record_id, source_id, gold, quality="good"):
    spans = (GoldSpan(start=0, end=4, text="abcd", label_type="Evident Conflict"),) if gold else ()
    return Response(
        record_id=record_id,
        source_id=source_id,
        generator="g",
        text="abcdefghij",
        gold_spans=spans,
        split="test",
        quality=quality,
    )


def detection(record_id, verdict, *spans):
    return Detection(
        record_id=record_id,
        run_id="r",
        verdict=verdict,
        spans=tuple(Span(start=a, end=b, text="abcdefghij"[a:b]) for a, b in spans),
    )


RESPONSES = [response("1", "q", True), response("2", "q", False, None), response("3", "s", True)]
DETECTIONS = [
    detection("1", "hallucinated", (2, 6)),
    detection("2", "unparsed"),
    detection("3", "empty"),
]


def test_only_hallucinated_verdicts_flag():
    rows = select_flagged(RESPONSES, SOURCES, DETECTIONS)
    assert [(r.record_id, r.flagged, r.verdict) for r in rows] == [
        ("1", True, "hallucinated"),
        ("2", False, "unparsed"),
        ("3", False, "empty"),
    ]


def test_a_response_without_a_verdict_is_left_out_and_a_doubled_or_unknown_one_refused():
    assert len(select_flagged(RESPONSES, SOURCES, DETECTIONS[:2])) == 2
    for wrong in ([*DETECTIONS, DETECTIONS[0]], [detection("9", "clean")]):
        with pytest.raises(AccountingError):
            select_flagged(RESPONSES, SOURCES, wrong)


def test_scores_by_level_group_and_protocol_match_hand_counts():
    rows = {
        (r.protocol, r.level, r.group): (r.tp, r.fp, r.fn, r.tn)
        for r in score_detections(RESPONSES, SOURCES, DETECTIONS)
    }
    assert rows["all", "response", "pooled"] == (1, 0, 1, 1)
    assert rows["all", "response", "QA"] == (1, 0, 0, 1)
    assert rows["all", "response", "Summary"] == (0, 0, 1, 0)
    # gold 0:4 against 2:6: two shared, two too many, two missed; plus all four of record 3
    assert rows["all", "span", "pooled"] == (2, 2, 6, 20)
    assert rows["good-only", "response", "QA"] == (1, 0, 0, 0)
    # without records 2 and 3, whose verdicts could not be read
    assert rows["read-only", "response", "pooled"] == (1, 0, 0, 0)


def test_where_every_verdict_could_be_read_there_is_no_score_of_read_ones_only():
    rows = score_detections(RESPONSES, SOURCES, [detection(n, "clean") for n in "123"])
    assert {row.protocol for row in rows} == {"all", "good-only"}


def test_a_task_in_which_a_detector_gave_no_span_counts_as_missed():
    rows = score_detections(RESPONSES, SOURCES, DETECTIONS)
    spans = {r.group: (r.tp, r.fp, r.fn) for r in rows if (r.level, r.protocol) == ("span", "all")}
    assert spans["Summary"] == (0, 0, 4)


def test_a_detector_without_spans_has_no_span_score():
    rows = score_detections(RESPONSES, SOURCES, [detection("1", "hallucinated")])
    assert {row.level for row in rows} == {"response"}
