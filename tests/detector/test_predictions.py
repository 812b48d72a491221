"""Anybody's predictions: read exactly, or refused with file and line."""

import gzip
import json

import pytest

from ragmend.datasets.ragtruth import find_files, load_ragtruth
from ragmend.detector.predictions import import_predictions
from ragmend.errors import DataError
from ragmend.records import TASKS, Response, Span

TEXT = "The bridge is red. The bridge is old."
RESPONSES = tuple(
    Response(record_id=i, source_id="s", generator="g", text=TEXT, split="test") for i in "12"
)


def jsonl(path, *rows):
    file = path / "p.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def csv(path, text):
    file = path / "p.csv"
    file.write_text(text)
    return file


def load(file, **settings):
    return import_predictions(file, RESPONSES, **{"system": None, "run_id": "r", **settings})


def verdicts(file, **settings):
    return [d.verdict for d in load(file, **settings).detections]


def test_verdicts_and_spans_of_ones_own_format(tmp_path):
    file = jsonl(
        tmp_path,
        {"record_id": "1", "verdict": "hallucinated", "spans": [[0, 3]], "score": 0.5},
        {"record_id": "2", "verdict": "clean", "spans": []},
    )
    first, second = load(file).detections
    assert first.spans == (Span(start=0, end=3, text="The"),)
    assert (first.score, second.score, second.verdict) == (0.5, None, "clean")


def test_spans_alone_decide_where_there_is_no_verdict(tmp_path):
    rows = [{"id": "1", "spans": [{"start": 0, "end": 3, "text": "The"}]}, {"id": "2", "spans": []}]
    assert verdicts(jsonl(tmp_path, *rows)) == ["hallucinated", "clean"]


def test_the_boolean_is_the_verdict_and_a_contradiction_is_counted(tmp_path):
    rows = [
        {"id": 1, "hallucinated": False, "spans": [[0, 3]]},
        {"id": 2, "hallucinated": True, "spans": []},
    ]
    imported = load(jsonl(tmp_path, *rows))
    assert [d.verdict for d in imported.detections] == ["clean", "hallucinated"]
    assert imported.counts["verdict_contradicts_spans"] == 2


def test_a_system_is_a_column_with_its_score_beside_it(tmp_path):
    file = csv(tmp_path, "id,a,a_score,b\n1,1,0.75,0\n2,0,,1\n")
    imported = load(file, system="a")
    assert [(d.verdict, d.score) for d in imported.detections] == [
        ("hallucinated", 0.75),
        ("clean", None),
    ]
    assert verdicts(file, system="b") == ["clean", "hallucinated"]


def test_a_system_is_a_key_of_a_mapping_of_spans(tmp_path):
    rows = [{"id": i, "pred_spans": {"a": [[4, 10]] if i == "1" else [], "b": []}} for i in "12"]
    assert verdicts(jsonl(tmp_path, *rows), system="a") == ["hallucinated", "clean"]
    with pytest.raises(DataError, match=r"no column 'c' .*; there are: a, b\."):
        load(jsonl(tmp_path, *rows), system="c")


def test_detections_come_in_the_order_of_the_responses(tmp_path):
    file = csv(tmp_path, "id,verdict\n2,empty\n1,unparsed\n")
    assert [(d.record_id, d.verdict) for d in load(file).detections] == [
        ("1", "unparsed"),
        ("2", "empty"),
    ]


def test_unknown_records_stop_or_are_counted(tmp_path):
    file = csv(tmp_path, "id,verdict\n1,0\n2,0\n3,1\n")
    with pytest.raises(DataError, match=r"p\.csv:4: record '3' is not in the data"):
        load(file)
    assert load(file, unknown_records="ignore").counts["unknown_records_ignored"] == 1


def test_rows_of_records_that_were_left_out_are_counted_and_never_unknown(tmp_path):
    file = jsonl(tmp_path, *(
        {"id": key, "verdict": "clean"} for key in ("1", "2", "left")
    ))  # fmt: skip
    imported = load(file, left_out=frozenset({"left"}))
    assert imported.counts["left_out"] == 1
    assert imported.counts["rows"] == 3
    with pytest.raises(DataError, match="'left' is not in the data"):
        load(file)


def test_an_empty_cell_of_spans_beside_a_verdict_gives_none(tmp_path):
    file = csv(tmp_path, "id,verdict,spans\n1,1,\n2,0,\n")
    imported = load(file)
    assert [(d.verdict, d.spans) for d in imported.detections] == [
        ("hallucinated", ()),
        ("clean", ()),
    ]
    assert imported.counts["verdict_contradicts_spans"] == 0
    with pytest.raises(DataError, match="spans: not valid JSON"):
        load(csv(tmp_path, "id,spans\n1,\n2,\n"))


def test_missing_records_stop_or_are_left_out(tmp_path):
    file = csv(tmp_path, "id,verdict\n2,0\n")
    with pytest.raises(DataError, match="no prediction for 1 of 2 records, the first is '1'"):
        load(file)
    imported = load(file, missing_records="exclude")
    assert [d.record_id for d in imported.detections] == ["2"]
    assert imported.counts["missing_records_excluded"] == 1


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"id": "1", "verdict": "maybe"}, "verdict must be one of"),
        ({"id": "1", "verdict": None}, "verdict must be one of"),
        ({"id": "1", "verdict": ""}, "verdict must be one of"),
        ({"id": "1", "verdict": 2}, "verdict must be one of"),
        ({"id": "1", "verdict": 1.0}, "verdict must be one of"),
        ({"id": "1"}, "no column named verdict"),
        ({"verdict": "clean"}, "one of record_id, id must be there, found none"),
        ({"id": None, "verdict": "clean"}, "id must be an id"),
        ({"id": True, "verdict": "clean"}, "id must be an id"),
        ({"id": "1", "spans": None}, "spans must be a list"),
        ({"id": "1", "spans": "none"}, "not valid JSON"),
        ({"id": "1", "spans": [[0, 99]]}, "span 0:99 leaves the text of record '1'"),
        ({"id": "1", "spans": [[3, 3]]}, "span 3:3 leaves the text"),
        ({"id": "1", "spans": [[-1, 3]]}, "span -1:3 leaves the text"),
        ({"id": "1", "spans": [[0, 1.5]]}, "a span is"),
        ({"id": "1", "spans": [[0, 1, 2]]}, "a span is"),
        ({"id": "1", "spans": ["The"]}, "a span is"),
        ({"id": "1", "spans": [{"start": 0, "end": 3, "text": "Thy"}]}, "holds 'The', not 'Thy'"),
        ({"id": "1", "verdict": 1, "score": "high"}, "score must be a number"),
        ({"id": "1", "verdict": 1, "score": "nan"}, "score must be a finite number"),
        ({"id": "1", "verdict": 1, "score": True}, "score must be a finite number"),
        ({"id": "1", "verdict": 1, "score": 10**400}, "score must be a number"),
    ],
)
def test_a_cell_that_cannot_be_read_is_never_taken_for_clean(tmp_path, row, words):
    with pytest.raises(DataError, match=words) as caught:
        load(jsonl(tmp_path, row))
    assert "p.jsonl:1: " in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the file is empty"),
        ("id,verdict\n1\n", r"p\.csv:2: 1 cells, the header has 2"),
        ("id,id\n1,1\n", "column name appears twice"),
        ("id,verdict\n1,0\n1,1\n", r"p\.csv:3: id '1' appears twice"),
        ('id,verdict\n1,"0\n', "not valid CSV"),
    ],
)
def test_a_broken_csv_is_refused(tmp_path, text, words):
    with pytest.raises(DataError, match=words):
        load(csv(tmp_path, text))


@pytest.mark.parametrize(
    "later",
    [
        {"id": "2", "verdict": "unparsed", "spans": []},
        {"id": "2", "verdict": "clean"},
        {"record_id": "2", "spans": []},
    ],
)
def test_a_row_with_other_columns_than_the_first_is_not_read_by_those_of_the_first(tmp_path, later):
    with pytest.raises(DataError, match=r"p\.jsonl:2: columns .* in the first row"):
        load(jsonl(tmp_path, {"id": "1", "spans": []}, later))


def test_a_score_that_only_a_later_row_has_is_read(tmp_path):
    rows = [{"id": "1", "spans": []}, {"id": "2", "spans": [], "score": "garbage"}]
    with pytest.raises(DataError, match=r"p\.jsonl:2: score must be a number"):
        load(jsonl(tmp_path, *rows))


def test_a_row_with_two_ids_is_refused(tmp_path):
    row = {"id": "1", "record_id": "2", "verdict": 0}
    with pytest.raises(DataError, match="found record_id and id"):
        load(jsonl(tmp_path, row))


def test_a_byte_order_mark_is_no_part_of_the_first_column(tmp_path):
    file = tmp_path / "p.csv"
    file.write_bytes(b"\xef\xbb\xbfid,verdict\r\n1,0\r\n2,1\r\n")
    assert verdicts(file) == ["clean", "hallucinated"]


@pytest.mark.parametrize("name", ["p.jsonl", "p.csv"])
def test_a_file_without_a_row_is_refused_even_where_records_may_be_missing(tmp_path, name):
    (tmp_path / name).write_text("" if name == "p.jsonl" else "id,verdict\n")
    with pytest.raises(DataError, match="holds no prediction"):
        load(tmp_path / name, missing_records="exclude")


def test_an_unknown_kind_of_file_is_refused(tmp_path):
    file = tmp_path / "p.parquet"
    file.write_bytes(b"")
    with pytest.raises(DataError, match=r"must be \.jsonl or \.csv"):
        load(file)


def test_gzip_is_told_apart_by_name(tmp_path):
    file = tmp_path / "p.csv.gz"
    file.write_bytes(gzip.compress(b"id,verdict\n1,0\n2,1\n"))
    assert verdicts(file) == ["clean", "hallucinated"]


@pytest.mark.parametrize(
    ("name", "system", "n_flagged"),
    [
        ("test_span_predictions.jsonl.gz", "hg_token_modernbert_large", 700),
        ("test_response_level_predictions.csv.gz", "hg_token_modernbert_large", 700),
        ("test_response_level_predictions.csv.gz", "mr_stage1_large", None),
        ("test_response_level_predictions.csv.gz", "hgu_baseline_nli", None),
    ],
)
def test_both_real_prediction_files_import(real_data, name, system, n_flagged):
    files = find_files(real_data / "ragtruth", "test")
    data = load_ragtruth(files, split="test", tasks=TASKS)
    imported = import_predictions(
        real_data / "ragtruth_predictions" / name,
        data.responses,
        system=system,
        run_id=system,
        unknown_records="ignore",
    )
    flagged = sum(d.verdict == "hallucinated" for d in imported.detections)
    assert imported.counts["rows"] == 2700
    assert imported.counts["imported"] == 2214
    assert imported.counts["unknown_records_ignored"] == 486
    assert n_flagged is None or flagged == n_flagged
    assert 0 < flagged < 2214
