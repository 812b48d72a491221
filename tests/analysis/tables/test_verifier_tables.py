import csv
from fractions import Fraction
from pathlib import Path

import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from ragmend.analysis.printing.write import table_files
from ragmend.analysis.settings import Provenance, Settings
from ragmend.analysis.tables.verifier_tables import (
    THRESHOLDS,
    verifier_area_table,
    verifier_threshold_table,
)
from ragmend.errors import StatisticsError

GOLDEN = Path(__file__).parents[2] / "golden" / "analysis"
PROVENANCE = Provenance(embedded_verifier=True, faults=())


def golden_claims():
    """The aligned claims of the golden verifier file, in this table's columns."""
    claims = pd.read_csv(GOLDEN / "reconstructed_verifier.csv", dtype={"record_id": str})
    claims = claims[claims["aligned"] == 1]
    return claims.assign(features="golden", source_id=claims["record_id"]).astype(
        {"gold_unsupported": int}
    )


def published():
    with (GOLDEN / "acceptance.csv").open() as file:
        return {row["id"]: row for row in csv.DictReader(file)}


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_the_papers_threshold_table_comes_out_of_the_golden_claims(threshold):
    table = verifier_threshold_table(golden_claims(), provenance=PROVENANCE, notes=())
    (row,) = (r for r in table.frame.to_dict("records") if r["threshold"] == threshold)
    printed = published()
    for ours, theirs in (("below", "flagged"), ("tp", "TP"), ("fp", "FP"), ("fn", "FN")):
        assert row[ours] == int(printed[f"t2.{threshold}.{theirs}"]["published"])
    for ours, theirs in (("precision", "P"), ("recall", "R"), ("f1", "F1")):
        if ours != "f1":
            assert f"{row[f'paper_{ours}']:.3f}" == printed[f"t2.{threshold}.{theirs}"]["published"]
        assert f"{float(row[ours]):.3f}" == printed[f"t2.{threshold}.{theirs}"]["published"]


def scored():
    rows = [
        ("x", "QA", "s1", "r1", 1, 1, 0.2),
        ("x", "QA", "s1", "r1", 1, 0, 0.9),
        ("x", "QA", "s2", "r2", 0, 0, 0.4),
        ("x", "Summary", "s3", "r3", 1, 1, 0.6),
        ("x", "Summary", "s3", "r3", 1, 0, 0.8),
    ]
    columns = "features task source_id record_id record_gold gold_unsupported p_support".split()
    return pd.DataFrame(rows, columns=columns)


def test_each_task_and_the_pool_have_their_area():
    settings = Settings(n_resamples=100)
    table = verifier_area_table(scored(), settings=settings, provenance=PROVENANCE, notes=("n",))
    rows = {row["task"]: row for row in table.frame.to_dict("records")}
    assert list(rows) == ["QA", "Summary", "pooled"]
    assert rows["pooled"]["auc"] == pytest.approx(
        roc_auc_score(scored()["gold_unsupported"], 1 - scored()["p_support"])
    )
    assert (rows["QA"]["sources"], rows["QA"]["responses"], rows["QA"]["claims"]) == (2, 2, 3)
    assert "n" in table.notes
    assert any("lexical" in note for note in table.notes)


def test_shares_at_a_threshold_are_counted_by_hand():
    table = verifier_threshold_table(scored(), provenance=PROVENANCE, notes=())
    (row,) = (r for r in table.frame.to_dict("records") if r["threshold"] == 0.5)
    assert (row["below"], row["tp"], row["fp"], row["fn"]) == (2, 1, 1, 1)
    assert row["below_pct"] == Fraction(200, 5)
    assert row["below_hallucinated_pct"] == Fraction(100, 4)
    assert row["clean_edited_pct"] == 100  # the one clean answer
    assert row["precision"] == row["recall"] == row["f1"] == Fraction(1, 2)


def test_the_tables_print_in_all_three_forms():
    tables = {
        "a": verifier_area_table(
            scored(), settings=Settings(n_resamples=100), provenance=PROVENANCE, notes=()
        ),
        "b": verifier_threshold_table(scored(), provenance=PROVENANCE, notes=()),
    }
    assert len(table_files(tables)) == 6


def test_claims_without_gold_are_refused():
    with pytest.raises(StatisticsError, match="record_gold must be 0 or 1"):
        verifier_threshold_table(
            scored().assign(record_gold=[None, 1, 1, 1, 1]), provenance=PROVENANCE, notes=()
        )
