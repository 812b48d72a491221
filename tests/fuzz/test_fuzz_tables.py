"""Broken tables of one's own: each gives an analysis or an error of ours, and nothing else.

Each set of tables is made from a valid one by its number alone, so that a failure is found again
by its number. Figures are not drawn: what they draw is tested where they are.
"""

import gzip
import json
import random
import time
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

from ragmend.analysis.analyze import print_analysis
from ragmend.analysis.settings import Provenance, Settings
from ragmend.cli.own_tables import OwnTables, analyze_tables, with_inputs
from ragmend.cli.results import analysis_files
from ragmend.errors import RagmendError

N_SETS = 150
GOLDEN = Path(__file__).parents[1] / "golden" / "analysis"
FILES = {
    "labels": "reconstructed_labels.csv",
    "claims": "reconstructed_verifier.csv",
    "arms": "reconstructed_arms.csv",
    "records": "reconstructed_records.csv",
    "selection": "reconstructed_selection.csv",
    "runs": "published_seed_f1.csv",
    "published": "published_teqhallu.csv",
}
SETS = (
    ("labels",), ("labels",), ("arms",), ("claims",), ("selection",), ("runs",), ("published",),
    ("labels", "records"), ("claims", "records"), ("labels", "arms", "claims", "records"),
)  # fmt: skip
ODD = (
    "", None, True, False, -1, 0, 1, 2, 0.5, 1e308, "true", " 1", "1 ", "01", "1e3", "1e400",
    "1e-999999999", "NaN", "inf", "NA", "null", "٣", "1_000", "0x10", "1,5", "é", "日本", "a\nb",
    'a"b', "a,b", "$x$", "<b>", "a|b", "-", "a-b", "a:b", "\0", "\x1b[31m", "\u2028", "x" * 5000,
    10**15, 2**53 + 1, 2**63 - 1, 2**63, 10**30, 10**309, "9" * 25, "9" * 5000, [], [1], ["x"], {},
    {"a": 1}, "all", "gold", "original", "macro", "pooled",
)  # fmt: skip
EXTRA = (
    "action_", "action_x", "split", "kind", "empty", "population", "text", "gold", "source_id",
    "tp", "fp", "fn", "f1_read", "health", "reason", "unscored",
)  # fmt: skip


@pytest.fixture(scope="module")
def tables():
    """A few rows of each golden table, of the same records."""
    found = {name: pd.read_csv(GOLDEN / file, dtype=str) for name, file in FILES.items()}
    kept = sorted(set(found["records"]["record_id"]))[:9]
    for name, table in found.items():
        of_records = name in ("labels", "claims", "arms", "records")
        rows = table[table["record_id"].isin(kept)] if of_records else table.head(20)
        found[name] = rows.fillna("").to_dict("records")
    return found


@pytest.fixture
def analyze(tables, tmp_path, monkeypatch):
    """Analyse the tables of some names, changed by a function, and print what was found."""
    monkeypatch.setattr("ragmend.analysis.analyze.drawn_figures", lambda study, tables: {})

    def run(names, draw, change=lambda rows, draw: None):
        changed = {name: [dict(row) for row in tables[name]] for name in names}
        change(changed[draw.choice(names)], draw)
        files = {name: write(tmp_path / name, rows, draw) for name, rows in changed.items()}
        settings = Settings(n_resamples=3, incomplete=draw.choice(("refuse", "drop")))
        analysis = analyze_tables(with_inputs(OwnTables(files, settings, Provenance()), {}))
        analysis_files(analysis)
        print_analysis(analysis)

    return run


def mutate(rows, draw):
    """Break one to three things in a table."""
    for _ in range(draw.choice((1, 1, 2, 3))):
        if not rows:
            return
        column, odd = draw.choice(list(rows[0])), draw.choice(ODD)
        other, row = draw.choice(list(rows[0])), draw.choice(rows)
        kind = draw.choice("cell cell cell column drop double lose swap keep extra".split())
        if kind == "cell":
            row[column] = odd
        elif kind == "double":
            rows.append(dict(row))
        elif kind == "lose":
            rows.remove(row)
        elif kind == "keep":
            del rows[draw.choice((0, 1, 2)) :]
        for each in rows:
            if kind in ("column", "extra"):
                each[column if kind == "column" else draw.choice(EXTRA)] = odd
            elif kind == "drop":
                each.pop(column, None)
            elif kind == "swap":
                each[column], each[other] = each.get(other), each.get(column)


def write(path, rows, draw):
    """Write a table in one of the formats; what Parquet cannot hold becomes JSONL."""
    form = draw.choice(("csv", "jsonl", "jsonl.gz", "parquet"))
    file = path.with_name(f"{path.name}.{form}")
    if form == "csv":
        pd.DataFrame(rows).to_csv(file, index=False)
        return file
    if form == "parquet":
        try:
            pd.DataFrame(rows).to_parquet(file)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            form, file = "jsonl", path.with_name(f"{path.name}.jsonl")
        else:
            return file
    content = "".join(json.dumps(row) + "\n" for row in rows).encode()
    file.write_bytes(gzip.compress(content) if form == "jsonl.gz" else content)
    return file


@pytest.mark.parametrize("names", [("selection",), ("runs",), ("published",), SETS[-1]])
def test_the_tables_are_fine_before_they_are_broken(analyze, names):
    analyze(names, random.Random(0))


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
def test_any_tables_give_an_analysis_or_an_error_of_ours(analyze, note):
    started, n_refused = time.monotonic(), 0
    for number in range(N_SETS):
        draw = random.Random(f"tables-{number}")
        try:
            analyze(draw.choice(SETS), draw, mutate)
        except RagmendError:
            n_refused += 1
        except Exception as error:
            raise AssertionError(f"tables {number} raised {type(error).__name__}") from error
    assert 0 < n_refused < N_SETS
    note(
        f"{N_SETS} fuzzed sets of tables in {time.monotonic() - started:.0f} s: {n_refused} "
        "refused by an error of ours, no other exception"
    )
