"""Reading anyone's tables: what a file holds comes through, what it cannot hold is named."""

import gzip
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

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
        b"id,label\rr,1\r",
    ],
    ids=["byte order mark", "carriage returns", "quotes", "no newline at the end", "old Mac"],
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


def test_a_header_may_be_long_and_an_ending_in_capitals(tmp_path):
    content = b"id," + b"x" * 200_000 + b"\nr,1\n"
    assert read_table(write(tmp_path, "a.csv", content))["id"].tolist() == ["r"]
    found = read_table(write(tmp_path, "A.CSV.GZ", gzip.compress(b"id,label\nr,1\n")))
    assert found["label"].tolist() == ["1"]


def test_json_values_keep_their_types_and_absent_keys_are_missing(tmp_path):
    found = read_table(write(tmp_path, "a.jsonl", b'{"id": 1, "label": 0}\n\n{"id": "1"}\n'))
    assert found["id"].tolist() == [1, "1"]
    assert found["label"].isna().tolist() == [False, True]


def test_parquet_is_read(tmp_path):
    path = tmp_path / "a.parquet"
    pd.DataFrame({"id": ["r"], "label": [1]}).to_parquet(path)
    assert read_table(path).to_dict("list") == {"id": ["r"], "label": [1]}


def test_parquet_gives_pythons_own_values(tmp_path):
    path = tmp_path / "a.parquet"
    pd.DataFrame(
        {
            "id": pd.array([2**53 + 1, None], dtype="Int64"),
            "label": pd.Categorical(["1", None]),
            "spans": [[], [1]],
        },
        index=pd.Index(["x", "y"], name="record_id"),
    ).to_parquet(path)
    assert read_table(path).to_dict("list") == {
        "id": [2**53 + 1, None],
        "label": ["1", None],
        "spans": [[], [1]],
        "record_id": ["x", "y"],
    }


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (pa.array([10**17], pa.timestamp("ms")), "column 'a': "),
        (
            pa.Array.from_buffers(pa.string(), 1, pa.array([b"\xff"], pa.binary()).buffers()),
            "column 'a': .*utf-8",
        ),
    ],
    ids=["a date in three million years", "invalid UTF-8"],
)
def test_a_column_that_python_cannot_hold_is_refused_by_name(tmp_path, values, message):
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"a": values}), path)
    with pytest.raises(DataError, match=message):
        read_table(path)


def test_a_file_name_with_a_nul_is_refused():
    with pytest.raises(MissingInputError, match="NUL"):
        read_table(Path("a\0.csv"))


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
