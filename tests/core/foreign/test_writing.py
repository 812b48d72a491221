"""What an import leaves on disk: everything together, or nothing."""

import csv
import hashlib
import io
import json

import pytest

from ragmend import __version__
from ragmend.errors import DataError, OutputError
from ragmend.foreign.convert import Table, convert
from ragmend.foreign.writing import table_csv, write_import

MAP = """
[labels]
file = "${HERE}/t.csv"
[labels.columns]
record_id = "id"
judge = { value = "a" }
condition = { value = "original" }
label = "label"
gold = "gold"
[labels.where]
split = "test"
"""
THEIRS = "id,label,gold,split\nb,1,,test\na,0,1,test\nc,0,1,train\n"
OURS = b"record_id,gold,judge,condition,label\na,1,a,original,0\nb,,a,original,1\n"


def write(place, folder, text=MAP, theirs=THEIRS):
    place.put("t.csv", theirs)
    loaded = place.load(text)
    write_import(folder, loaded, convert(loaded, {"HERE": str(place.folder)}))


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_tables_and_manifest_are_written_and_name_no_place_of_this_machine(place):
    out = place.folder / "out"
    write(place, out)
    written = files(out)
    assert written["labels.csv"] == OURS
    manifest = json.loads(written["import.json"])
    assert manifest == {
        "schema_version": 1,
        "ragmend_version": __version__,
        "map": "m.toml",
        "map_sha256": hashlib.sha256(MAP.encode()).hexdigest(),
        "inputs": {"${HERE}/t.csv": hashlib.sha256(THEIRS.encode()).hexdigest()},
        "tables": {
            "labels": {
                "file": "labels.csv",
                "sha256": hashlib.sha256(OURS).hexdigest(),
                "rows": 2,
                "rows_read": 3,
                "rows_left_out": 1,
                "blank": {"gold": 1},
            }
        },
    }
    assert str(place.folder).encode() not in b"".join(written.values())


def test_a_second_import_and_one_of_reordered_rows_give_identical_tables(place):
    first, again, other = (place.folder / name for name in ("one", "two", "three"))
    write(place, first)
    write(place, again)
    assert files(first) == files(again)
    header, *rows = THEIRS.splitlines(keepends=True)
    write(place, other, theirs=header + "".join(reversed(rows)))
    assert files(other)["labels.csv"] == OURS


def test_a_table_of_another_import_is_not_mixed_with_these(place):
    out = place.folder / "out"
    place.put("out/claims.csv", "x")
    with pytest.raises(DataError, match=r"claims\.csv: is there already, and this map makes no"):
        write(place, out)
    assert files(out) == {"claims.csv": b"x"}


def test_an_input_is_never_replaced(place):
    text = MAP.replace("t.csv", "labels.csv")
    place.put("labels.csv", THEIRS)
    with pytest.raises(DataError, match=r"labels\.csv: is an input and would be replaced"):
        write(place, place.folder, text)
    assert (place.folder / "labels.csv").read_text() == THEIRS


def test_an_import_whose_writing_failed_has_no_manifest(place):
    out = place.folder / "out"
    write(place, out)
    (out / "labels.csv").unlink()
    (out / "labels.csv").mkdir()
    with pytest.raises(OutputError, match=r"labels\.csv: cannot be written"):
        write(place, out)
    assert [path.name for path in out.iterdir()] == ["labels.csv"]


def test_csv_quotes_whatever_would_break_a_line_and_keeps_numbers_whole():
    cells = [
        ("a\rb", 0.1, None),
        ('"', 1e-300, 2**62),
        ("x\ny", 7.0, 0),
        (" é,", 0.30000000000000004, 1),
    ]
    content = table_csv(Table(("t", "p", "n"), cells, 4, 0))
    read = list(csv.reader(io.StringIO(content.decode(), newline="")))
    assert read[0] == ["t", "p", "n"]
    assert [text for text, _, _ in read[1:]] == [text for text, _, _ in cells]
    assert [float(number) for _, number, _ in read[1:]] == [number for _, number, _ in cells]
    assert [count for _, _, count in read[1:]] == ["", str(2**62), "0", "1"]
    assert b"\r\n" not in content
