"""Reading is strict, writing is atomic."""

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmend.errors import DataError, MissingInputError
from ragmend.io import (
    Line,
    canonical_json,
    parse_object,
    read_lines,
    read_records,
    sha256_of,
    write_bytes,
    write_records,
)
from ragmend.records import Selected, Span

SPAN = Span(start=0, end=2, text="ab")


def write(path, content):
    path.write_bytes(content)
    return path


def test_lines_end_at_newlines_only(tmp_path):
    text = "a\u2028b\u0085c\n d\r\n"
    file = write(tmp_path / "x.jsonl", text.encode())
    assert [line.text for line in read_lines(file)] == ["a\u2028b\u0085c", " d\r"]


def test_a_line_knows_its_file_and_number(tmp_path):
    file = write(tmp_path / "x.jsonl", b"a\nb\n")
    assert [line.where for line in read_lines(file)] == [f"{file}:1", f"{file}:2"]


def test_gzip_is_read_like_plain_text(tmp_path):
    file = write(tmp_path / "x.jsonl.gz", gzip.compress("ä\n".encode()))
    assert [line.text for line in read_lines(file)] == ["ä"]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("x.gz", b"plain text\n", "not gzip"),
        ("x.gz", gzip.compress(b"abc\n" * 500, mtime=0)[:-20], "broken gzip"),
        ("x.gz", b"", "not gzip"),
        ("x.txt", b"ok\n\xff\n", ":2: not UTF-8"),
    ],
)
def test_a_damaged_file_is_named(tmp_path, name, content, words):
    file = write(tmp_path / name, content)
    with pytest.raises(DataError, match=words) as caught:
        list(read_lines(file))
    assert str(file) in str(caught.value)


def test_a_missing_file_and_a_directory_are_named(tmp_path):
    with pytest.raises(MissingInputError, match="no such file"):
        list(read_lines(tmp_path / "none"))
    with pytest.raises(MissingInputError, match="is a directory"):
        list(read_lines(tmp_path))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "not valid JSON"),
        ("[1]", "expected a JSON object, found list"),
        ('{"a": 1, "a": 2}', "key 'a' appears twice"),
        ('{"b": {"a": 1, "a": 2}}', "key 'a' appears twice"),
        ('{"a": NaN}', "NaN is not a JSON number"),
        ('{"a": -Infinity}', "-Infinity is not a JSON number"),
        ('{"a": 1e999}', "1e999 is too large for a number"),
        ('{"a": ' + "1" * 5000 + "}", "not valid JSON"),
        ('{"a": "\\ud800"}', "lone surrogate"),
        ('{"\\udc00": 1}', "lone surrogate"),
        ("[" * 100_000, "not valid JSON"),
        ("", "not valid JSON"),
    ],
)
def test_bad_json_is_refused_with_its_place(text, words):
    with pytest.raises(DataError, match=words) as caught:
        parse_object(Line("f:7", text))
    assert str(caught.value).startswith("f:7: ")


def test_a_pair_of_surrogate_escapes_is_one_character():
    assert parse_object(Line("f:1", '{"a": "\\ud83d\\ude00"}')) == {"a": "😀"}


def test_records_survive_a_round_trip(tmp_path):
    assert write_records(tmp_path / "a" / "r.jsonl", [SPAN, SPAN]) == 2
    assert list(read_records(tmp_path / "a" / "r.jsonl", Span)) == [SPAN, SPAN]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"start": 0, "end": 2, "text": "ab", "more": 1}', "unknown key 'more'$"),
        ('{"start": 0, "end": 2, "txt": "ab"}', "unknown key 'txt'; did you mean 'text'"),
        ('{"start": 0, "end": 2}', "text: is required and not there"),
        ('{"start": "0", "end": 2, "text": "ab"}', "start: Input should be a valid integer"),
        ('{"start": 0, "end": 3, "text": "ab"}', "does not fit its text"),
        ('{"start": 2, "end": 2, "text": ""}', "does not fit its text"),
        ('{"start": -1, "end": 1, "text": "ab"}', "start: .*greater than or equal to 0"),
    ],
)
def test_a_record_with_a_wrong_field_is_refused_with_file_and_line(tmp_path, line, words):
    file = write(tmp_path / "r.jsonl", line.encode())
    with pytest.raises(DataError, match=words) as caught:
        list(read_records(file, Span))
    assert f"{file}:1: " in str(caught.value)


def test_strict_records_do_not_take_a_word_for_a_truth_value(tmp_path):
    row = {"record_id": "1", "source_id": "2", "task_type": "QA", "gold": 1}
    row |= {"verdict": "clean", "flagged": False}
    file = write(tmp_path / "r.jsonl", json.dumps(row).encode())
    with pytest.raises(DataError, match="gold: Input should be a valid boolean"):
        list(read_records(file, Selected))


def test_a_failing_writer_leaves_the_old_file(tmp_path):
    file = tmp_path / "r.jsonl"
    write_records(file, [SPAN])

    def broken():
        yield SPAN
        raise RuntimeError("killed")

    with pytest.raises(RuntimeError):
        write_records(file, broken())
    assert list(read_records(file, Span)) == [SPAN]


def test_a_failing_writer_leaves_nothing_beside(tmp_path):
    def broken():
        raise RuntimeError("killed")
        yield SPAN

    with pytest.raises(RuntimeError):
        write_records(tmp_path / "r.jsonl", broken())
    assert list(tmp_path.iterdir()) == []


def test_write_bytes_replaces_and_leaves_nothing_beside(tmp_path):
    write_bytes(tmp_path / "x", b"1")
    write_bytes(tmp_path / "x", b"2")
    assert [(f.name, f.read_bytes()) for f in tmp_path.iterdir()] == [("x", b"2")]


@given(st.dictionaries(st.text(), st.integers() | st.text() | st.none()))
def test_canonical_json_does_not_depend_on_the_order_of_keys(value):
    turned = dict(reversed(list(value.items())))
    assert canonical_json(value) == canonical_json(turned)
    assert sha256_of(value) == sha256_of(turned)


def test_canonical_json_refuses_nan():
    with pytest.raises(ValueError, match="Out of range"):
        canonical_json({"a": float("nan")})
