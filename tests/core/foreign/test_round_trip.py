"""Tidy tables bent into a foreign shape come back as they were; broken bytes never get through."""

import csv
import io
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragmend.errors import RagmendError
from ragmend.foreign.convert import convert
from ragmend.foreign.map import load_map
from ragmend.foreign.targets import TARGETS
from ragmend.foreign.writing import table_csv

GOLDEN = Path(__file__).parents[2] / "golden" / "analysis"
NAMES = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=6
)
FLAGS = st.sampled_from([0, 1])
MAP = """
[labels]
file = "wide.FORMAT"
[labels.columns]
record_id = "id"
gold = "human"
condition = { value = "original" }
[labels.melt]
column = "judge"
into = "label"
inside = "verdicts"
starts_with = ["j"]
[labels.values.label]
no = 0
yes = 1
unclear = 1
[labels.missing]
label = ["?"]
"""


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("labels", "reconstructed_labels"),
        ("arms", "reconstructed_arms"),
        ("claims", "reconstructed_verifier"),
        ("records", "reconstructed_records"),
        ("selection", "reconstructed_selection"),
    ],
)
def test_a_table_that_is_ours_already_comes_out_with_every_value(place, name, file):
    path = GOLDEN / f"{file}.csv"
    with path.open(newline="", encoding="utf-8") as lines:
        given = list(csv.DictReader(lines))
    columns = "".join(f'{column} = "{column}"\n' for column in given[0])
    table = place.convert(f'[{name}]\nfile = "{path}"\n[{name}.columns]\n{columns}')[name]
    wanted = sorted(given, key=lambda row: [row[part] for part in TARGETS[name].key])
    assert [dict(zip(table.columns, map(as_text, row), strict=True)) for row in table.rows] == [
        {key: as_text(float(v)) if key == "p_support" else v for key, v in row.items()}
        for row in wanted
    ]


def as_text(cell):
    return "" if cell is None else str(cell)


@st.composite
def tables(draw):
    """Records with a gold, and judges with a label each: 0, 1 or none."""
    judges = draw(st.lists(NAMES.map("j{}".format), min_size=1, max_size=3, unique=True))
    ids = draw(st.lists(NAMES, min_size=1, max_size=5, unique=True))
    label = st.one_of(st.none(), FLAGS)
    return [
        (record_id, draw(label), judge, "original", draw(label))
        for record_id, gold in ((i, draw(label)) for i in ids)
        for judge in judges
    ]


def consistent(rows):
    """Give all rows of a record the gold of its first."""
    gold = {}
    return [(r, gold.setdefault(r, g), j, c, label) for r, g, j, c, label in rows]


def as_wide(rows):
    words = {0: "no", 1: "yes", None: "?"}
    wide = {}
    for record_id, gold, judge, _, label in rows:
        record = wide.setdefault(record_id, {"id": record_id, "human": gold, "verdicts": {}})
        record["verdicts"][judge] = words[label]
    return list(wide.values())


@given(rows=tables(), ascii_only=st.booleans())
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_tidy_table_made_wide_comes_back_the_same(place, rows, ascii_only):
    rows = consistent(rows)
    wide = as_wide(rows)
    lines = "".join(json.dumps(row, ensure_ascii=ascii_only) + "\n" for row in wide)
    place.put("wide.jsonl", lines)
    place.put("wide.json", json.dumps(wide))
    for kind in ("jsonl", "json"):
        table = place.convert(MAP.replace("FORMAT", kind))["labels"]
        assert table.rows == sorted(rows, key=lambda row: (row[0], row[2]))


@given(rows=tables())
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_written_reads_back_the_same(place, rows):
    wide = as_wide(consistent(rows))
    place.put("wide.json", json.dumps(wide))
    table = place.convert(MAP.replace("FORMAT", "json"))["labels"]
    text = table_csv(table).decode()
    header, *body = csv.reader(io.StringIO(text, newline=""))
    assert tuple(header) == table.columns
    assert body == [[as_text(cell) for cell in row] for row in table.rows]


@given(rows=tables())
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_our_own_table_imported_again_has_the_same_bytes(place, rows):
    place.put("wide.json", json.dumps(as_wide(consistent(rows))))
    first = table_csv(place.convert(MAP.replace("FORMAT", "json"))["labels"])
    place.put("labels.csv", first)
    columns = "\n".join(f'{c} = "{c}"' for c in ("record_id", "gold", "judge", "condition"))
    again = '[labels]\nfile = "labels.csv"\nmissing = { label = [""] }\n[labels.columns]\n'
    assert table_csv(place.convert(again + columns + '\nlabel = "label"\n')["labels"]) == first


@given(
    content=st.one_of(
        st.binary(max_size=60),
        st.text('ab01,"\n\r{}[]:.', max_size=60).map(
            lambda text: ("id,judge,label\n" + text).encode()
        ),
    ),
    kind=st.sampled_from(["csv", "jsonl", "json", "parquet", "csv.gz"]),
)
@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_are_a_table_or_one_clear_line(place, content, kind):
    place.put(f"t.{kind}", content)
    text = (
        f'[labels]\nfile = "t.{kind}"\n[labels.columns]\nrecord_id = "id"\njudge = "judge"\n'
        'condition = { value = "c" }\nlabel = "label"\n'
    )
    loaded = load_map(str(place.put("m.toml", text)))
    try:
        rows = convert(loaded, {}).tables["labels"].rows
        said = f"t.{kind}"
    except RagmendError as error:
        rows, said = [], str(error)
    assert f"t.{kind}" in said
    assert all(label in (0, 1) for *_, label in rows)
