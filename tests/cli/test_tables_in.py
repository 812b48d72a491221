"""Reading anyone's tables: what a file holds comes through, what it cannot hold is named."""

import gzip

import pandas as pd
import pytest

from ragmend.cli.tables_in import read_table
from ragmend.errors import DataError, MissingInputError


def write(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    return path


def test_csv_values_are_text_and_a_blank_is_blank(tmp_path):
    found = read_table(write(tmp_path, "a.csv", b"id,label\n007,1\nNA,\n"))
    assert found.to_dict("list") == {"id": ["007", "NA"], "label": ["1", ""]}


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbfid,label\nr,1\n",
        b"id,label\r\nr,1\r\n",
        b'"id","label"\n"r","1"\n',
        b"id,label\nr,1",
    ],
    ids=["byte order mark", "carriage returns", "quotes", "no newline at the end"],
)
def test_the_usual_dialects_of_csv_are_one(tmp_path, content):
    found = read_table(write(tmp_path, "a.csv", content))
    assert found.to_dict("list") == {"id": ["r"], "label": ["1"]}


def test_a_quoted_line_break_is_part_of_the_value(tmp_path):
    found = read_table(write(tmp_path, "a.csv", b'id,label\n"a\nb",1\n'))
    assert found["id"].tolist() == ["a\nb"]


def test_gzip_is_read_as_what_it_holds(tmp_path):
    content = gzip.compress(b"id,label\nr,1\n")
    assert read_table(write(tmp_path, "a.csv.gz", content))["id"].tolist() == ["r"]
    lines = gzip.compress(b'{"id": "r", "label": true}\n')
    assert read_table(write(tmp_path, "a.jsonl.gz", lines))["label"].tolist() == [True]


def test_json_values_keep_their_types_and_absent_keys_are_missing(tmp_path):
    found = read_table(write(tmp_path, "a.jsonl", b'{"id": 1, "label": 0}\n\n{"id": "1"}\n'))
    assert found["id"].tolist() == [1, "1"]
    assert found["label"].isna().tolist() == [False, True]


def test_parquet_is_read(tmp_path):
    path = tmp_path / "a.parquet"
    pd.DataFrame({"id": ["r"], "label": [1]}).to_parquet(path)
    assert read_table(path).to_dict("list") == {"id": ["r"], "label": [1]}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"id,label\nr,1\nr,1,2\n", "not a CSV table: .*Expected 2 columns, got 3"),
        ("a.csv", b"id,label\nr\n", "Expected 2 columns, got 1"),
        ("a.csv", b"", "expected a header line"),
        ("a.csv", b"\n", "expected a header line"),
        ("a.csv", b"id,id\nr,1\n", "the column 'id' stands in the header twice"),
        ("a.csv", b"id,label\n\xff,1\n", "not a CSV table"),
        ("a.csv.gz", b"id,label\n", "not a gzip|gzip"),
        ("a.jsonl", b"", "no rows"),
        ("a.jsonl", b'{"id": 1, "id": 2}\n', "a.jsonl:1: .*id"),
        ("a.jsonl", b'{"id": NaN}\n', "a.jsonl:1: "),
        ("a.jsonl", b"[1]\n", "a.jsonl:1: "),
        ("a.jsonl", b'{"id": 1}\n{"id": \n', "a.jsonl:2: "),
        ("a.parquet", b"PAR", "not a Parquet table"),
        ("a.xlsx", b"", r"a table must end in \.csv"),
    ],
)
def test_what_is_no_table_is_refused_with_its_file(tmp_path, name, content, message):
    with pytest.raises(DataError, match=message):
        read_table(write(tmp_path, name, content))


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(MissingInputError, match=r"none\.csv: no such file"):
        read_table(tmp_path / "none.csv")
