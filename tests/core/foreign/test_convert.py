"""Foreign files become our tables: every way of taking a value, and everything that is refused."""

import gzip
import json

import pyarrow as pa
import pytest
from pyarrow import parquet

from ragmend.analysis.inputs.labels import KEY
from ragmend.analysis.inputs.tidy import LAYOUTS
from ragmend.errors import ConfigError, DataError, MissingInputError
from ragmend.foreign.convert import convert
from ragmend.foreign.map import load_map
from ragmend.foreign.targets import TARGETS

LABELS = """
[labels]
file = "t.csv"
[labels.columns]
record_id = "id"
judge = "judge"
condition = { value = "original" }
label = "label"
"""
WITH_GOLD = LABELS + 'gold = "gold"\n'
RECORDS = """
[records]
file = "t.jsonl"
[records.columns]
record_id = "id"
source_id = "source"
task = { value = "QA" }
gold = GOLD
"""
RUNS = """
[runs]
file = "t.csv"
[runs.columns]
model = "model"
seed = "seed"
f1 = "f1"
usable = "usable"
"""
CLAIMS = """
[claims]
file = "t.jsonl"
[claims.columns]
record_id = "id"
claim_id = "claim"
task = { value = "QA" }
record_gold = { value = "" }
p_support = "p"
aligned = { value = false }
gold_unsupported = { value = "" }
action_removal = "act"
"""
ARMS_COUNTS = ("claims", "eligible", "claims_kept", "dropped", "substituted", "rewritten",
               "original_chars", "repaired_chars")  # fmt: skip


def column(table, name):
    return [row[table.columns.index(name)] for row in table.rows]


def jsonl(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_rows_are_sorted_by_key_and_columns_are_in_our_order(place):
    place.put("t.csv", "label,judge,gold,id\n0,b,1,r10\n1,a,,r9\n1,a,1,r10\n")
    table = place.convert(WITH_GOLD)["labels"]
    assert table.columns == ("record_id", "gold", "judge", "condition", "label")
    assert table.rows == [
        ("r10", 1, "a", "original", 1),
        ("r10", 1, "b", "original", 0),
        ("r9", None, "a", "original", 1),
    ]
    assert (table.n_read, table.n_left_out) == (3, 0)


ROWS = [{"id": "r1", "judge": "a", "label": 1}, {"id": "r2", "judge": "a", "label": 0}]
CSV = "id,judge,label\nr1,a,1\nr2,a,0\n"


def as_parquet(rows, path):
    parquet.write_table(pa.Table.from_pylist(rows), path)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", CSV.encode()),
        ("t.csv", b"\xef\xbb\xbf" + CSV.encode()),
        ("t.csv", CSV.replace("\n", "\r\n").encode()),
        ("t.csv", b"\xef\xbb\xbf" + CSV.replace("\n", "\r\n").rstrip().encode()),
        ("t.csv", CSV.replace(",a,", ',"a",').encode()),
        ("t.csv.gz", gzip.compress(CSV.encode())),
        ("T.CSV", CSV.encode()),
        ("t.jsonl", jsonl(*ROWS).encode()),
        ("t.ndjson", jsonl(*ROWS).replace("\n", "\r\n").encode()),
        ("t.jsonl.gz", gzip.compress(jsonl(*ROWS).encode())),
        ("t.json", json.dumps(ROWS, indent=1).encode()),
        ("t.json", b"\xef\xbb\xbf" + json.dumps(ROWS).encode()),
        ("t.json.gz", gzip.compress(json.dumps(ROWS).encode())),
    ],
)
def test_every_format_gives_the_same_table(place, name, content):
    place.put(name, content)
    table = place.convert(LABELS.replace("t.csv", name))["labels"]
    assert table.rows == [("r1", "a", "original", 1), ("r2", "a", "original", 0)]


def test_parquet_gives_the_same_table_as_csv_packed_or_not(place):
    as_parquet(ROWS, place.folder / "t.parquet")
    place.put("u.parquet.gz", gzip.compress((place.folder / "t.parquet").read_bytes()))
    for name in ("t.parquet", "u.parquet.gz"):
        table = place.convert(LABELS.replace("t.csv", name))["labels"]
        assert table.rows == [("r1", "a", "original", 1), ("r2", "a", "original", 0)]


def test_nested_parquet_is_read_as_nested_json_is(place):
    as_parquet([{"id": "r1", "m": {"q.1": 1}, "judge": "a"}], place.folder / "t.parquet")
    text = LABELS.replace("t.csv", "t.parquet").replace('"label"', '["m", "q.1"]')
    assert column(place.convert(text)["labels"], "label") == [1]


def test_a_format_that_the_name_does_not_tell_is_named_in_the_map(place):
    place.put("t.txt", CSV)
    text = LABELS.replace('"t.csv"', '"t.txt"\nformat = "csv"')
    assert len(place.convert(text)["labels"].rows) == 2
    with pytest.raises(DataError, match=r"t\.txt: no format has this ending; known are \.csv"):
        place.convert(LABELS.replace("t.csv", "t.txt"))


def test_paths_are_relative_to_the_map_and_take_variables(place):
    place.put("deep/data/t.csv", CSV)
    outside = place.put("maps/x/m.toml", LABELS.replace("t.csv", "../../deep/${WHERE}/t.csv"))
    imported = convert(load_map(str(outside)), {"WHERE": "data"})
    assert list(imported.inputs) == ["../../deep/${WHERE}/t.csv"]
    with pytest.raises(ConfigError, match=r"m\.toml: labels\.file needs .* variable WHERE"):
        convert(load_map(str(outside)), {})


def test_a_name_with_dots_is_one_column_in_csv_and_a_path_in_json(place):
    place.put("t.csv", "id,judge,x.y\nr1,a,1\n")
    assert column(place.convert(LABELS.replace('"label"', '"x.y"'))["labels"], "label") == [1]
    place.put("t.jsonl", jsonl({"id": "r1", "judge": "a", "x": {"y": 0}, "x.y": 1}))
    text = LABELS.replace("t.csv", "t.jsonl")
    assert column(place.convert(text.replace('"label"', '"x.y"'))["labels"], "label") == [0]
    assert column(place.convert(text.replace('"label"', '["x.y"]'))["labels"], "label") == [1]


def test_ids_are_text_whatever_they_look_like(place):
    place.put("t.csv", "id,judge,label\n007,a,1\n7,a,1\nNA,a,1\n1e3,a,1\n")
    assert column(place.convert(LABELS)["labels"], "record_id") == ["007", "1e3", "7", "NA"]
    place.put("t.jsonl", jsonl({"id": 10**30, "judge": "a", "label": 1}))
    rows = place.convert(LABELS.replace("t.csv", "t.jsonl"))["labels"]
    assert column(rows, "record_id") == ["1" + "0" * 30]


def test_two_ids_never_join_to_one(place):
    place.put("t.csv", "p,q,judge,label\na-b,c,x,1\na,b-c,y,0\n")
    text = LABELS.replace('"id"', '{ join = ["p", "q"] }')
    with pytest.raises(DataError, match=r"t\.csv:2: labels\.record_id: 'a-b' holds '-'"):
        place.convert(text)
    by_slash = text.replace('["p", "q"]', '["p", "q"], by = "/"')
    assert column(place.convert(by_slash)["labels"], "record_id") == ["a-b/c", "a/b-c"]


def test_an_id_can_be_joined_of_parts_and_a_source_named_by_its_text(place):
    place.put("t.jsonl", jsonl({"b": 1, "n": 2, "text": "abc"}))
    text = RECORDS.replace("GOLD", '{ value = "" }').replace(
        '"id"', '{ join = ["b", "n"], by = "/" }'
    )
    table = place.convert(text.replace('"source"', '{ digest = "text" }'))["records"]
    # The first 16 digits of SHA-256("abc"), FIPS 180-2 appendix B.1.
    assert table.rows == [("1/2", "ba7816bf8f01cfea", "QA", None)]


@pytest.mark.parametrize(
    ("spans", "gold"),
    [
        ([], 0),
        ([{"l": "Benign"}], 0),
        ([{"l": ["Benign", "Questionable"]}], 0),
        ([{"l": "Unwanted"}], 1),
        ([{"l": ["Benign"]}, {"l": ["Benign", "Unwanted.Intrinsic"]}], 1),
        ([{"l": ["Not Unwanted"]}], 0),
        ([{"l": []}], None),
        ([{"l": []}, {"l": ["Benign"]}], None),
        ([{"l": []}, {"l": ["Unwanted"]}], 1),
    ],
)
def test_gold_can_be_whether_any_annotation_starts_with_a_word(place, spans, gold):
    place.put("t.jsonl", jsonl({"id": "r", "source": "s", "a": spans}))
    origin = '{ any = { path = "a", field = "l", starts_with = "Unwanted" } }'
    assert column(place.convert(RECORDS.replace("GOLD", origin))["records"], "gold") == [gold]


@pytest.mark.parametrize(("spans", "gold"), [([], 0), ([{}], 1), ([0], 1)])
def test_gold_can_be_whether_there_is_any_annotation(place, spans, gold):
    place.put("t.jsonl", jsonl({"id": "r", "source": "s", "a": spans}))
    origin = '{ any = { path = "a" } }'
    assert column(place.convert(RECORDS.replace("GOLD", origin))["records"], "gold") == [gold]


@pytest.mark.parametrize(
    ("spans", "words"),
    [
        (None, "expected a list, found None"),
        ({"l": "x"}, "expected a list"),
        (["x"], "expected an object with 'l', found 'x'"),
        ([{"m": 1}], "no column 'l' here; there are 'm'"),
        ([{"l": 1}], "expected a text or a list of texts, found 1"),
        ([{"l": ""}], "expected a text or a list of texts, found ''"),
        ([{"l": ["Unwanted", None]}], "expected a text or a list of texts"),
    ],
)
def test_an_annotation_that_cannot_be_read_is_never_clean(place, spans, words):
    place.put("t.jsonl", jsonl({"id": "r", "source": "s", "a": spans}))
    origin = '{ any = { path = "a", field = "l", starts_with = "Unwanted" } }'
    with pytest.raises(DataError, match=rf"t\.jsonl:1: records\.gold: {words}"):
        place.convert(RECORDS.replace("GOLD", origin))


@pytest.mark.parametrize(
    ("change", "labels"),
    [
        ("at_least = 0.5", [0, 1, 1]),
        ("below = 0.5", [1, 0, 0]),
        ("at_least = 1", [0, 0, 1]),
    ],
)
def test_a_score_becomes_a_label_at_a_stated_threshold(place, change, labels):
    place.put("t.csv", "id,judge,s\n1,a,.4999\n2,a,0.5\n3,a,1e0\n")
    text = LABELS.replace('"label"', '{ path = "s", CHANGE }').replace("CHANGE", change)
    assert column(place.convert(text)["labels"], "label") == labels


def test_a_threshold_is_applied_before_values_are_translated(place):
    place.put("t.csv", "id,judge,s\n1,a,.2\n2,a,.8\n")
    text = LABELS.replace('"label"', '{ path = "s", at_least = 0.5 }')
    text += "[labels.values.label]\n1 = 0\n0 = 1\n"
    assert column(place.convert(text)["labels"], "label") == [1, 0]


def test_a_share_becomes_percent_in_decimal(place):
    # In binary .07 * 100 is 7.000000000000001.
    place.put("t.csv", "model,seed,f1,usable\nm,1,.07,1\nm,2,0.785,true\n")
    table = place.convert(RUNS.replace('"f1"', '{ path = "f1", times = 100 }'))["runs"]
    assert column(table, "f1") == [7.0, 78.5]


def test_values_are_translated_by_their_text(place):
    rows = [{"id": i, "judge": "a", "label": v} for i, v in enumerate([True, 1, 0.5, "x", None])]
    place.put("t.jsonl", jsonl(*rows))
    text = LABELS.replace("t.csv", "t.jsonl") + (
        "[labels.values.label]\ntrue = 1\n1 = 0\n'0.5' = true\nx = '0'\nnull = 1\n"
    )
    assert column(place.convert(text)["labels"], "label") == [1, 0, 1, 0, 1]


def test_a_declared_missing_label_is_blank_and_an_undeclared_one_is_refused(place):
    place.put("t.csv", "id,judge,label\n1,a,0\n2,a,Invalid\n3,a,\n")
    text = LABELS + "[labels.missing]\nlabel = "
    table = place.convert(text + '["Invalid", ""]')["labels"]
    assert column(table, "label") == [0, None, None]
    with pytest.raises(DataError, match=r'csv:4: .*missing.label = \[""\] in the map declares'):
        place.convert(text + '["Invalid"]')
    with pytest.raises(DataError, match=r"csv:3: labels.label: expected 0 or 1, found 'Invalid'"):
        place.convert(text + '[""]')


def test_where_takes_equal_rows_only_and_counts_the_others(place):
    place.put("t.csv", "id,judge,label,split,n\n1,a,0,test,1\n2,a,1,train,1\n3,a,1,test,2\n")
    table = place.convert(LABELS + '[labels.where]\nsplit = "test"\nn = [1, 2]\n')["labels"]
    assert (column(table, "record_id"), table.n_left_out) == (["1", "3"], 1)
    for where, words in [
        ('split = "tset"', "t.csv: labels.where: no row has 'tset' in 'split'"),
        ('split = ["test", "dev"]', "no row has 'dev' in 'split'"),
        ('splt = "test"', "csv:2: labels.where: no column 'splt' here; there are .*split"),
        ('split = "train"\nn = 2', "t.csv: labels: there are no rows"),
    ]:
        with pytest.raises(DataError, match=words):
            place.convert(f"{LABELS}[labels.where]\n{where}\n")


def test_several_sections_of_one_table_are_put_together(place):
    place.put("a.csv", "id,label\n1,0\n")
    place.put("b.csv", "id,label\n1,1\n")
    one = LABELS.replace("[labels]", "[[labels]]")
    text = one.replace("t.csv", "a.csv").replace('"judge"', '{ value = "a" }')
    text += one.replace("t.csv", "b.csv").replace('"judge"', '{ value = "b" }')
    assert column(place.convert(text)["labels"], "label") == [0, 1]
    with pytest.raises(DataError, match=r"b\.csv:2: labels: .* was already at .*a\.csv:2"):
        place.convert(text.replace('value = "b"', 'value = "a"'))


MELT = """
[labels]
file = "t.FORMAT"
[labels.columns]
record_id = "id"
condition = { value = "original" }
[labels.melt]
column = "judge"
into = "label"
"""


@pytest.mark.parametrize(
    "listed",
    [
        'of = ["q_a", "q.b"]',
        'starts_with = ["q"]\nnot_ends_with = ["_score"]',
        'starts_with = ["q_", "q."]\nnot_ends_with = ["_score"]',
        'of = ["q_a"]\nnamed = { "q.b" = ["q.b"] }',
        'named = { q_a = "q_a", "q.b" = { path = ["q.b"], at_least = 1 } }',
    ],
)
def test_wide_columns_become_long_rows(place, listed):
    rows = [{"id": "1", "q_a": 0, "q.b": 1, "q_a_score": 0.3}]
    place.put("t.jsonl", jsonl(*rows))
    place.put("t.csv", "id,q_a,q.b,q_a_score\n1,0,1,.3\n")
    for kind in ("jsonl", "csv"):
        table = place.convert(MELT.replace("FORMAT", kind) + listed)["labels"]
        assert table.rows == [("1", "q.b", "original", 1), ("1", "q_a", "original", 0)]


def test_wide_columns_may_lie_inside_an_object_and_be_renamed(place):
    place.put("t.jsonl", jsonl({"id": 1, "m": {"a": 0, "b": 1, "c": "x"}}))
    text = MELT.replace("FORMAT", "jsonl") + 'inside = "m"\nof = ["a", "b"]\n'
    text += "[labels.values.judge]\na = 'A'\nb = 'B'\n[labels.values.label]\n0 = 1\n1 = 0\n"
    assert place.convert(text)["labels"].rows == [
        ("1", "A", "original", 1),
        ("1", "B", "original", 0),
    ]


@pytest.mark.parametrize(
    ("listed", "words"),
    [
        ('of = ["z"]', "jsonl:1: labels.label of z: no column 'z' here"),
        ('of = ["a"]\nstarts_with = ["a"]', "jsonl:1: labels.melt: 'a' is melted twice"),
        ('of = ["x"]', "jsonl:1: labels.label of x: expected 0 or 1, found 'x'"),
        ('starts_with = ["z"]', "jsonl:1: labels.melt: no column to melt: none starts with z"),
        ('inside = "id"\nstarts_with = ["z"]', "melt.inside: expected an object, found 1"),
        ('starts_with = ["a"]', r"jsonl:2: labels.melt: not the columns .* differ in \['a2'\]"),
    ],
)
def test_what_cannot_be_melted_is_refused(place, listed, words):
    place.put("t.jsonl", jsonl({"id": 1, "a": 0, "x": "x"}, {"id": 2, "a": 0, "a2": 1, "x": "x"}))
    with pytest.raises(DataError, match=words):
        place.convert(MELT.replace("FORMAT", "jsonl") + listed)


@pytest.mark.parametrize(
    ("listed", "words"),
    [
        ('inside = "m"\nof = ["a"]', "melt.inside: a CSV file has columns"),
        ('named = { a = ["m", "a"] }', "a CSV file has columns"),
        ('of = ["a"]\n[labels.values.judge]\nb = "B"', "one of the map's values 'b', found 'a'"),
    ],
)
def test_a_melt_that_cannot_work_is_refused_before_any_row(place, listed, words):
    place.put("t.csv", "id,a\n1,x\n")
    with pytest.raises(ConfigError, match=rf"m\.toml: labels: .*{words}"):
        place.convert(MELT.replace("FORMAT", "csv") + listed)


def test_a_place_inside_another_is_refused_for_csv(place):
    place.put("t.csv", CSV)
    with pytest.raises(ConfigError, match=r"m\.toml: labels: .*a CSV file has columns"):
        place.convert(LABELS.replace('"label"', '["m", "label"]'))


BAD_CSV = [
    ("is empty", b"", "t.csv: the file is empty"),
    ("has a header only", b"id,judge,label\n", "t.csv: labels: there are no rows"),
    ("has a short row", b"id,judge,label\n1,a\n", "t.csv:2: 2 cells, the header has 3"),
    ("has a long row", b"id,judge,label\n1,a,1,\n", "t.csv:2: 4 cells, the header has 3"),
    ("has a blank line", b"id,judge,label\n\n1,a,1\n", "t.csv:2: 0 cells, the header has 3"),
    ("has an open quote", b'id,judge,label\n1,"a,1\n', "t.csv:2: not valid CSV"),
    ("has a column twice", b"id,id,judge,label\n", "t.csv:1: the column 'id' stands there twice"),
    ("is not UTF-8", b"id,judge,label\n1,\xff,1\n", "t.csv:2: not UTF-8"),
    ("lacks a column", b"id,judge,lable\n1,a,1\n", "t.csv:2: labels.label: no column 'label' here"),
    ("has a key twice", b"id,judge,label\n1,a,1\n1,a,1\n",
     "t.csv:3: labels: record_id 1, judge a, condition original was already at .*t.csv:2"),
    ("has a wrong label", b"id,judge,label\n1,a,2\n", "t.csv:2: labels.label: .*0 or 1, .*2"),
    ("has a padded label", b"id,judge,label\n1,a, 1\n", "expected 0 or 1, found ' 1'"),
    ("has nan", b"id,judge,label\n1,a,nan\n", "expected 0 or 1, found 'nan'"),
    ("has no id", b"id,judge,label\n,a,1\n", "t.csv:2: labels.record_id: a value must be there"),
    ("has a row of two lines before a wrong one", b'id,judge,label\n1,"a\nb",1\n2,a,x\n',
     "t.csv:4: labels.label: expected 0 or 1"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "words"), [pytest.param(*r[1:], id=r[0]) for r in BAD_CSV])
def test_a_bad_csv_file_is_one_clear_line(place, content, words):
    place.put("t.csv", content)
    with pytest.raises(DataError, match=words) as caught:
        place.convert(LABELS)
    assert "\n" not in str(caught.value)


GOOD = b'{"id":"1","judge":"a","label":1}\n'
BAD_JSONL = [
    ("is empty", b"", "t.jsonl: labels: there are no rows"),
    ("is cut", GOOD + GOOD[:-4], "t.jsonl:2: not valid JSON"),
    ("has a list", GOOD + b"[]\n", "t.jsonl:2: expected a JSON object, found list"),
    ("has a blank line", GOOD + b"\n", "t.jsonl:2: not valid JSON"),
    ("has a key twice", b'{"id":1,"id":1}\n', "t.jsonl:1: key 'id' appears twice"),
    ("has NaN", GOOD.replace(b":1}", b":NaN}"), "t.jsonl:1: NaN is not a JSON number"),
    ("has Infinity", GOOD.replace(b":1}", b":-Infinity}"), "t.jsonl:1: -Infinity is not a JSON"),
    ("has too large a number", GOOD.replace(b":1}", b":1e999}"), "too large for a number"),
    ("has 5,000 digits", GOOD.replace(b":1}", b":" + b"9" * 5000 + b"}"), "t.jsonl:1: not valid"),
    ("has 4,000 digits", GOOD.replace(b":1}", b":" + b"9" * 4000 + b"}"), "expected 0 or 1"),
    ("has half a surrogate", GOOD.replace(b'"1"', b'"\\ud800"'), "t.jsonl:1: a lone surrogate"),
    ("has null", GOOD.replace(b":1}", b":null}"), r'found None; missing.label = \["null"\]'),
    ("has an object", GOOD.replace(b":1}", b":{}}"), r"expected 0 or 1, found {}"),
    ("has a true id", GOOD.replace(b'"1"', b"true"), "record_id: expected text or a whole number"),
    ("has a fraction as id", GOOD.replace(b'"1"', b"1.0"), "expected text or a whole number"),
    ("has an empty id", GOOD.replace(b'"1"', b'""'), "record_id: a value must be there, found ''"),
    ("lacks a key", GOOD.replace(b'"label"', b'"lbl"'), "t.jsonl:1: labels.label: no column"),
]


@pytest.mark.parametrize(("content", "words"), [pytest.param(*r[1:], id=r[0]) for r in BAD_JSONL])
def test_a_bad_jsonl_file_is_one_clear_line(place, content, words):
    place.put("t.jsonl", content)
    with pytest.raises(DataError, match=words):
        place.convert(LABELS.replace("t.csv", "t.jsonl"))


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("t.csv.gz", CSV.encode(), "t.csv.gz: the name ends in .gz but the content is not gzip"),
        ("t.csv.gz", gzip.compress(CSV.encode())[:-9], "t.csv.gz:.*broken gzip file"),
        ("t.json.gz", gzip.compress(b"[]")[:-9], "t.json.gz:.*broken gzip file"),
        ("t.parquet.gz", b"PAR1", "t.parquet.gz: broken gzip file"),
        ("t.parquet.gz", gzip.compress(b"PAR1" * 9)[:-9], "t.parquet.gz: broken gzip file"),
        ("t.parquet", b"", "t.parquet: not a Parquet file"),
        ("t.parquet", b"PAR1" * 9, "t.parquet: not a Parquet file"),
        ("t.json", b"", "t.json: not valid JSON"),
        ("t.json", b"[]", "t.json: labels: there are no rows"),
        ("t.json", b"{}", "t.json: expected a JSON array, found dict"),
        (
            "t.json",
            b"[{},3]",
            "t.json: item 1: labels.record_id: no column 'id' here; there are ''",
        ),
        ("t.json", b"[3]", "t.json: item 1: expected a JSON object, found int"),
        ("t.json", b'[{"id":1},', "t.json: not valid JSON"),
    ],
)
def test_another_bad_file_is_one_clear_line(place, name, content, words):
    place.put(name, content)
    with pytest.raises(DataError, match=words) as caught:
        place.convert(LABELS.replace("t.csv", name))
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_named(place):
    with pytest.raises(MissingInputError, match=r"t\.csv: no such file"):
        place.convert(LABELS)
    (place.folder / "t.csv").mkdir()
    with pytest.raises(MissingInputError, match=r"t\.csv: is a directory"):
        place.convert(LABELS)


def test_a_parquet_value_that_python_cannot_hold_is_refused(place):
    when = pa.array([10**17], pa.timestamp("ms"))
    table = pa.table({"id": ["r"], "judge": ["a"], "label": [1], "when": when})
    parquet.write_table(table, place.folder / "t.parquet")
    with pytest.raises(DataError, match=r"t\.parquet: not a Parquet file that can be read"):
        place.convert(LABELS.replace("t.csv", "t.parquet"))


def test_a_file_name_with_a_nul_is_refused(place):
    with pytest.raises(MissingInputError, match="NUL"):
        place.convert(LABELS.replace("t.csv", "t\\u0000.csv"))


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (pa.array([float("nan")]), "expected 0 or 1, found nan"),
        (pa.array([None], pa.int64()), "a value must be there, found None"),
        (pa.array([b"1"]), "expected 0 or 1, found b'1'"),
        (pa.array([0], pa.timestamp("s")), "expected 0 or 1, found datetime"),
    ],
)
def test_a_parquet_value_that_is_no_label_is_refused_with_its_row(place, value, words):
    table = pa.table({"id": ["r"], "judge": ["a"], "label": value})
    parquet.write_table(table, place.folder / "t.parquet")
    with pytest.raises(DataError, match=rf"t\.parquet: row 1: labels\.label: {words}"):
        place.convert(LABELS.replace("t.csv", "t.parquet"))


@pytest.mark.parametrize(
    ("value", "expected"),
    [("12", 12), ("0", 0), ("12.0", 12), ("007", 7), ("1000000000000", 10**12)],
)
def test_counts_are_whole_numbers(place, value, expected):
    place.put("t.csv", f"id,n\nr,{value}\n")
    assert column(place.convert(arms())["arms"], "claims") == [expected]


@pytest.mark.parametrize(
    "value",
    [
        "-1",
        "1.5",
        "1e3",
        "1_000",
        " 1",
        "٣",
        "nan",
        "inf",
        "0x1",
        "1000000000001",
        "9223372036854775807",
        "1" + "0" * 400,
        "true",
    ],
)
def test_what_is_no_whole_number_is_no_count(place, value):
    place.put("t.csv", f"id,n\nr,{value}\n")
    with pytest.raises(DataError, match=r"t.csv:2: arms.claims: expected a whole number from 0"):
        place.convert(arms())


def arms():
    counts = "".join(f'{name} = "n"\n' for name in ARMS_COUNTS)
    return (
        '[arms]\nfile = "t.csv"\n[arms.columns]\nrecord_id = "id"\ntask = { value = "QA" }\n'
        f'gold = {{ value = "" }}\narm = {{ value = "removal" }}\n{counts}'
    )


@pytest.mark.parametrize(
    ("p", "expected"), [(0, 0.0), (1, 1.0), ("0.9929", 0.9929), ("1e-3", 0.001), (None, None)]
)
def test_a_probability_is_a_number_from_0_to_1_or_blank(place, p, expected):
    place.put("t.jsonl", jsonl({"id": "r", "claim": "c", "p": p, "act": "keep"}))
    assert column(place.convert(CLAIMS)["claims"], "p_support") == [expected]


@pytest.mark.parametrize(
    ("p", "words"),
    [
        (1.0001, "expected a probability from 0 to 1, found 1.0001"),
        (-0.1, "expected a probability"),
        ("nan", "expected a finite number, found 'nan'"),
        ("1_0", "expected a finite number"),
        ("1e999", "expected a finite number"),
        (10**400, "expected a finite number"),
        (True, "expected a finite number, found True"),
        ([0.5], "expected a finite number"),
    ],
)
def test_what_is_no_probability_is_refused(place, p, words):
    place.put("t.jsonl", jsonl({"id": "r", "claim": "c", "p": p, "act": "keep"}))
    with pytest.raises(DataError, match=rf"t.jsonl:1: claims.p_support: {words}"):
        place.convert(CLAIMS)


def test_an_unknown_action_is_refused(place):
    place.put("t.jsonl", jsonl({"id": "r", "claim": "c", "p": 0.5, "act": "remove"}))
    with pytest.raises(
        DataError, match=r"action_removal: expected one of keep, .*drop, found 'rem"
    ):
        place.convert(CLAIMS)


def test_f1_is_percent(place):
    place.put("t.csv", "model,seed,f1,usable\nm,1,101,1\n")
    with pytest.raises(DataError, match=r"runs\.f1: expected percent from 0 to 100, found '101'"):
        place.convert(RUNS)


def test_no_target_can_have_a_blank_key():
    for name, target in TARGETS.items():
        for part in target.key:
            assert target.column(part).blank == "never", name
            assert target.column(part).is_required, name


def test_the_targets_are_the_tables_that_analysis_reads():
    assert TARGETS["labels"].key == tuple(KEY)
    for name, target in TARGETS.items():
        layout = LAYOUTS[name]
        assert target.key == layout.key
        for column_name, field in layout.fields.items():
            ours = target.column(column_name)
            assert ours.is_required or not field.is_required, (name, column_name)
            assert ours.blank == "never" or field.may_be_blank, (name, column_name)
