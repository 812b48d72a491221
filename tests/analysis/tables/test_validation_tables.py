from fractions import Fraction

import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from ragmend.analysis.printing.write import table_files
from ragmend.analysis.settings import Provenance, Settings
from ragmend.analysis.tables.validation_tables import (
    verifier_area_table,
    verifier_threshold_table,
)
from ragmend.errors import StatisticsError

PROVENANCE = Provenance(embedded_verifier=True, faults=())
FAST = Settings(n_resamples=100)


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
    table = verifier_area_table(scored(), settings=FAST, provenance=PROVENANCE, notes=("n",))
    rows = {row["task"]: row for row in table.frame.to_dict("records")}
    assert list(rows) == ["QA", "Summary", "pooled"]
    assert rows["pooled"]["auc"] == pytest.approx(
        roc_auc_score(scored()["gold_unsupported"], 1 - scored()["p_support"])
    )
    assert (rows["QA"]["sources"], rows["QA"]["answers"], rows["QA"]["claims"]) == (2, 2, 3)
    assert rows["QA"]["gold_positive"] == 1
    assert "n" in table.notes
    assert any("lexical" in note for note in table.notes)


def test_sets_of_features_stand_one_below_the_other():
    both = pd.concat([scored(), scored().assign(features="a", p_support=0.5)])
    areas = verifier_area_table(both, settings=FAST, provenance=PROVENANCE, notes=())
    assert list(areas.frame["features"]) == ["x"] * 3 + ["a"] * 3
    assert list(areas.frame["auc"])[3:] == [0.5, 0.5, 0.5]
    thresholds = verifier_threshold_table(both, provenance=PROVENANCE, notes=())
    assert list(thresholds.frame["features"]) == ["x"] * 7 + ["a"] * 7


def test_shares_at_a_threshold_are_counted_by_hand():
    table = verifier_threshold_table(scored(), provenance=PROVENANCE, notes=())
    (row,) = (r for r in table.frame.to_dict("records") if r["threshold"] == 0.5)
    assert (row["flagged"], row["tp"], row["fp"], row["fn"]) == (2, 1, 1, 1)
    assert (row["all_below"], row["all_below_pct"]) == (2, Fraction(200, 5))
    assert row["hallucinated_below_pct"] == Fraction(100, 4)
    assert row["clean_edited_pct"] == 100  # the one clean answer
    assert row["precision"] == row["recall"] == row["f1"] == Fraction(1, 2)


def test_the_tables_print_in_all_three_forms():
    tables = {
        "a": verifier_area_table(scored(), settings=FAST, provenance=PROVENANCE, notes=()),
        "b": verifier_threshold_table(scored(), provenance=PROVENANCE, notes=()),
    }
    assert len(table_files(tables)) == 6


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"record_gold": [None, 1, 1, 1, 1]}, "record_gold must be 0 or 1"),
        ({"p_support": [None, 0.1, 0.2, 0.3, 0.4]}, "p_support must lie in"),
        ({"source_id": [None] * 5}, "must be given"),
    ],
)
def test_claims_that_lack_something_are_refused(columns, message):
    with pytest.raises(StatisticsError, match=message):
        verifier_threshold_table(scored().assign(**columns), provenance=PROVENANCE, notes=())
