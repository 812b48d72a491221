"""`ragmend import`: shipped maps on real files, what it prints, and what it leaves on failure."""

import csv
import json
from collections import Counter, defaultdict
from itertools import combinations

import pytest

MAP = """
[labels]
file = "t.jsonl"
[labels.columns]
record_id = "id"
judge = { value = "a" }
condition = "arm"
label = "verdict"
[labels.values.label]
Consistent = 0
Inconsistent = 1
[labels.missing]
label = ["Invalid"]
"""
ROWS = [
    {"id": "1", "arm": "original", "verdict": "Inconsistent"},
    {"id": "1", "arm": "removal", "verdict": "Consistent"},
    {"id": "2", "arm": "original", "verdict": "Invalid"},
    {"id": "2", "arm": "removal", "verdict": "Consistent"},
]


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.toml").write_text(MAP)
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return tmp_path


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_an_import_says_what_it_made_and_what_comes_next(workplace, command):
    done = command("import", "--map", "m.toml", "--out", "my tables")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "labels     4 rows of 4 read, label blank in 1",
        "manifest   my tables/import.json",
        "next       ragmend analyze --labels 'my tables/labels.csv' --incomplete drop --out DIR",
    ]
    assert (workplace / "my tables" / "labels.csv").read_text() == (
        "record_id,judge,condition,label\n"
        "1,a,original,1\n1,a,removal,0\n2,a,original,\n2,a,removal,0\n"
    )


def test_checking_writes_nothing(workplace, command):
    before = sorted(workplace.rglob("*"))
    done = command("import", "--map", "m.toml", "--check-only")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "checked    nothing was written"
    assert sorted(workplace.rglob("*")) == before


@pytest.mark.parametrize(
    "words", [("--map", "m.toml"), ("--map", "m.toml", "--out", "x", "--check-only"), ()]
)
def test_a_wrong_use_is_told_and_exits_with_2(workplace, command, words):
    done = command("import", *words)
    assert done.returncode == 2
    assert "Usage: " in done.stderr


@pytest.mark.parametrize(
    ("file", "old", "new", "words"),
    [
        ("m.toml", "file", "flie", "m.toml: unknown key 'labels.flie'; did you mean 'file'?"),
        ("m.toml", "t.jsonl", "u.jsonl", "u.jsonl: no such file"),
        ("m.toml", "t.jsonl", "${RAGMEND_NOWHERE}/t", "variable RAGMEND_NOWHERE, which is not set"),
        (
            "t.jsonl",
            "Invalid",
            "Maybe",
            "t.jsonl:3: labels.label: expected one of the map's values",
        ),
        ("t.jsonl", '"arm"', '"amr"', "t.jsonl:1: labels.condition: no column 'arm' here; there"),
        ("t.jsonl", '"2"', '"1"', "condition original was already at t.jsonl:1"),
    ],
)
def test_a_failed_import_is_one_line_and_leaves_nothing(workplace, command, file, old, new, words):
    path = workplace / file
    path.write_text(path.read_text().replace(old, new))
    before = sorted(workplace.rglob("*"))
    done = command("import", "--map", "m.toml", "--out", "out")
    assert done.returncode == 1
    assert done.stdout == ""
    assert words in done.stderr
    assert done.stderr.startswith("ragmend: ")
    assert done.stderr.count("\n") == 1
    assert sorted(workplace.rglob("*")) == before


def test_an_import_can_be_analyzed(workplace, command):
    assert command("import", "--map", "m.toml", "--out", "in").returncode == 0
    refused = command("analyze", "--labels", "in/labels.csv", "--out", "out")
    assert refused.returncode == 1
    assert "--incomplete drop" in refused.stderr
    done = command("analyze", "--labels", "in/labels.csv", "--incomplete", "drop", "--out", "out")
    assert done.returncode == 0, done.stderr


def test_the_shipped_map_of_faithbench_makes_what_the_file_says(real_data, tmp_path, command):
    done = command("import", "--map", "faithbench", "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    labels, records = rows_of(tmp_path / "labels.csv"), rows_of(tmp_path / "records.csv")
    # Counted in the file by itself, with json and Counter: 0 is inconsistent there, 1 here.
    assert Counter(row["judge"] for row in labels if row["label"] == "1") == {
        "gpt-3.5-turbo": 188, "gpt-4-turbo": 138, "gpt_4o": 98, "trueteacher": 99,
        "hhemv1": 231, "hhem-2.1": 96, "hhem-2.1-english": 65,
    }  # fmt: skip
    assert Counter(row["gold"] for row in records) == {"1": 439, "0": 310, "": 1}
    assert len(records) == 750
    assert set(Counter(row["source_id"] for row in records).values()) == {10}
    assert {row["condition"] for row in labels} == {"original"}
    # Cohen's kappa as computed, before this code was, for the data's description.
    kappa = kappas(labels)
    for pair, expected in [
        (("gpt-4-turbo", "gpt_4o"), 0.520),
        (("gpt-3.5-turbo", "gpt-4-turbo"), 0.182),
        (("gpt-3.5-turbo", "gpt_4o"), 0.147),
        (("gpt_4o", "trueteacher"), 0.176),
    ]:
        assert kappa[pair] == pytest.approx(expected, abs=0.0005)


def test_the_shipped_map_of_ragtruth_predictions_makes_what_the_file_says(
    real_data, tmp_path, command
):
    done = command("import", "--map", "ragtruth-predictions", "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    labels, records = rows_of(tmp_path / "labels.csv"), rows_of(tmp_path / "records.csv")
    assert len({row["judge"] for row in labels}) == 27
    assert (len(labels), len(records)) == (27 * 2700, 2700)
    assert Counter(row["task"] for row in records if row["gold"] == "1") == {
        "QA": 160, "Data2txt": 579, "Summary": 204,
    }  # fmt: skip
    # F1 and kappa as computed, before this code was, for the data's description.
    assert f1(labels, "mr_stage1_base") == pytest.approx(0.751, abs=0.0005)
    assert f1(labels, "mr_stage1_large") == pytest.approx(0.792, abs=0.0005)
    assert f1(labels, "hgu_baseline_nli") == pytest.approx(0.523, abs=0.0005)
    kappa = kappas(labels)
    assert kappa["mr_stage1_base", "mr_stage1_large"] == pytest.approx(0.736, abs=0.0005)
    assert kappa["hgu_baseline_nli", "mr_stage1_base"] == pytest.approx(0.016, abs=0.0005)


def f1(labels, judge):
    pairs = Counter((row["gold"], row["label"]) for row in labels if row["judge"] == judge)
    hits = pairs["1", "1"]
    return 2 * hits / (2 * hits + pairs["0", "1"] + pairs["1", "0"])


def kappas(labels):
    """Return Cohen's kappa of each two judges, from its definition."""
    by_judge = defaultdict(dict)
    for row in labels:
        by_judge[row["judge"]][row["record_id"]] = int(row["label"])
    found = {}
    for one, other in combinations(sorted(by_judge), 2):
        a, b = by_judge[one], by_judge[other]
        n = len(a)
        agreed = sum(a[key] == b[key] for key in a) / n
        p, q = sum(a.values()) / n, sum(b.values()) / n
        chance = p * q + (1 - p) * (1 - q)
        found[one, other] = (agreed - chance) / (1 - chance)
    return found
