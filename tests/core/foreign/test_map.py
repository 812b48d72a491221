"""Map files: strict, with the nearest key named, and checked before a file is read."""

from pathlib import Path

import pytest

from ragmend.config import shipped_configs
from ragmend.errors import ConfigError, MissingInputError
from ragmend.foreign.map import load_map, shipped_maps
from ragmend.foreign.targets import TABLE_NAMES

LABELS = """
[labels]
file = "t.csv"
[labels.columns]
record_id = "id"
judge = "judge"
condition = { value = "original" }
label = "label"
"""
MELTED = """
[labels]
file = "t.csv"
[labels.columns]
record_id = "id"
condition = { value = "original" }
[labels.melt]
column = "judge"
into = "label"
"""


def test_every_shipped_map_loads_by_name_and_is_no_configuration():
    assert shipped_maps() == ["detect-and-repair", "faithbench", "ragtruth-predictions"]
    for name in shipped_maps():
        assert load_map(name).name == name
    assert not set(shipped_maps()) & set(shipped_configs())


def test_the_map_of_files_that_nobody_here_has_seen_makes_every_table_and_says_it_is_untested():
    assert tuple(load_map("detect-and-repair").map.tables()) == TABLE_NAMES
    file = Path(__file__).parents[3] / "configs" / "maps" / "detect-and-repair.toml"
    assert file.read_text("utf-8").startswith("# UNTESTED")


def test_a_map_that_is_neither_a_file_nor_shipped_is_missing(tmp_path):
    with pytest.raises(MissingInputError, match=r"neither a file nor a shipped map .*faithbench"):
        load_map("faithbnch")
    with pytest.raises(MissingInputError, match="is a directory"):
        load_map(str(tmp_path))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no table; expected one of labels, arms"),
        ("labels = []", "labels: no section"),
        ("labels = 3", "labels.0: Input should be an object"),
        ("labels =", "not valid TOML"),
        (f"labels = {'[' * 300}{']' * 300}", "nested deeper than"),
        (LABELS.replace("[labels", "[lables"), "unknown key 'lables'; did you mean 'labels'"),
        (LABELS.replace("file", "fiel"), "unknown key 'labels.fiel'; did you mean 'file'"),
        (LABELS.replace("label =", "lable ="), "labels.columns: no column 'lable'; did you mean"),
        (
            LABELS.replace('"judge"', '{ pth = "judge" }'),
            "unknown key 'labels.columns.judge.pth'; did you mean 'path'",
        ),
        (LABELS.replace('"judge"', '{ path = "a", value = "b" }'), "exactly one of path, value"),
        (LABELS.replace('"judge"', "{}"), "exactly one of path, value, join, digest, any"),
        (LABELS.replace('"judge"', '{ value = "q", at_least = 0.5 }'), "of `path` only"),
        (LABELS.replace('"judge"', '{ path = "q", by = "+" }'), "`by` goes with `join` only"),
        (LABELS.replace('"judge"', '{ join = ["p", "q"], by = "" }'), "at least 1 character"),
        (LABELS.replace('"judge"', '{ join = ["q"] }'), "at least 2 items"),
        (LABELS.replace('"judge"', '{ path = "q", at_least = nan }'), "at_least: .*finite"),
        (LABELS.replace('"judge"', '{ any = { path = "a", field = "b" } }'), "go together"),
        (
            LABELS.replace('"judge"', '{ any = { path = "a", feld = "b" } }'),
            "unknown key 'labels.columns.judge.any.feld'; did you mean 'field'",
        ),
        (LABELS.replace('judge = "judge"\n', ""), "labels.columns: nothing fills judge"),
        (LABELS.replace('"label"', "{ value = 2 }"), "columns.label: expected 0 or 1, found 2"),
        (LABELS.replace('"label"', '{ value = "" }'), "columns.label: expected 0 or 1, found ''"),
        (LABELS.replace('"t.csv"', '"t.csv"\nformat = "xlsx"'), "format: .*'csv', 'jsonl'"),
        (LABELS + "[labels.values.label]\nyes = 3", "values.label.'yes': expected 0 or 1, found 3"),
        (LABELS + "[labels.values.gold]\nyes = 1", "'gold' is no column that this section fills"),
        (LABELS + '[labels.missing]\njudge = ["x"]', "missing: judge cannot be blank"),
        (
            LABELS + '[labels.missing]\nlabel = ["x"]\n[labels.values.label]\nx = 1',
            "label 'x' is also in `values`",
        ),
        (
            LABELS + LABELS.replace("[labels]", "[arms]").replace("[labels.", "[arms."),
            "arms.columns: no column 'judge'",
        ),
        (
            (LABELS + LABELS + 'gold = "g"').replace("[labels]", "[[labels]]"),
            "all its sections must fill the same columns",
        ),
        (MELTED, "one of `of`, `starts_with` and `named`"),
        (MELTED + 'off = ["a"]', "unknown key 'labels.melt.off'; did you mean 'of'"),
        (MELTED + 'of = ["a"]\nnot_ends_with = ["b"]', "`not_ends_with` goes with `starts_with`"),
        (MELTED + 'of = ["a", "b", "a"]', "a column is melted twice"),
        (MELTED + 'of = ["a"]\nnamed = { a = "b" }', "a column is melted twice"),
        (MELTED + 'inside = "m"\nnamed = { a = "b" }', "`inside` goes with"),
        (MELTED.replace("judge", "judg") + 'of = ["a"]', "melt: no column 'judg'; did you mean"),
        (MELTED.replace('"judge"', '"record_id"') + 'of = ["a"]', "'record_id' is filled twice"),
        (
            MELTED.replace("condition =", "gold =") + 'of = ["a"]',
            "columns.gold: expected 0 or 1, found 'original'|nothing fills condition",
        ),
        (
            '[records]\nfile = "t.csv"\n[records.columns]\nrecord_id = "id"',
            'nothing fills source_id, task, gold; { value = "" } leaves',
        ),
    ],
)
def test_a_wrong_map_is_one_clear_line(place, text, words):
    with pytest.raises(ConfigError, match=words) as caught:
        place.load(text)
    assert "\n" not in str(caught.value)
    assert "m.toml: " in str(caught.value)
