import pandas as pd
import pytest
from sklearn.metrics import brier_score_loss, f1_score

from ragmend.analysis.inputs.frames import Frames
from ragmend.analysis.settings import Provenance, Settings
from ragmend.analysis.statistics.calibration import calibrate
from ragmend.analysis.study import Study
from ragmend.analysis.tables.calibration_tables import (
    calibration_table,
    operating_points_table,
    without_development,
)


@pytest.fixture(scope="module")
def claims(golden_frames):
    """The golden claims, every second answer called development."""
    claims = golden_frames.claims
    is_odd = claims["record_id"].str[-1].astype(int) % 2 == 1
    return claims.assign(split=is_odd.map({True: "development", False: "test"}))


def study(claims):
    return Study(Frames(claims=claims), Settings(), Provenance(faults=()))


def split(claims, name):
    return claims[(claims["split"] == name) & (claims["aligned"] == 1)]


def rows_of(table, *keys):
    return table.frame.set_index(list(keys))


def test_maps_are_fitted_on_development_and_measured_on_the_rest(claims):
    rows = rows_of(calibration_table(study(claims)), "task", "method")
    dev, rest = split(claims, "development"), split(claims, "test")
    for method, name in ((None, "as given"), ("platt", "Platt"), ("isotonic", "isotonic")):
        p = rest["p_support"]
        if method is not None:
            p = calibrate(dev["p_support"], 1 - dev["gold_unsupported"], p, method=method)
        row = rows.loc[("pooled", name)]
        assert row["brier"] == pytest.approx(brier_score_loss(1 - rest["gold_unsupported"], p))
        assert row["f1"] == pytest.approx(f1_score(rest["gold_unsupported"], p < 0.5))
    assert rows.loc[("pooled", "isotonic")]["ece"] < rows.loc[("pooled", "as given")]["ece"] / 4


def test_the_rest_decides_nothing_that_is_fitted_or_chosen(claims):
    is_rest = claims["split"] == "test"
    turned = claims.assign(
        gold_unsupported=claims["gold_unsupported"].where(~is_rest, 1 - claims["gold_unsupported"])
    )
    before, after = operating_points_table(study(claims)), operating_points_table(study(turned))
    for column in ("threshold", "dev_f1", "dev_clean_edited_pct"):
        assert list(before.frame[column]) == list(after.frame[column])
    assert list(before.frame["f1"]) != list(after.frame["f1"])


def test_the_best_threshold_is_better_there_than_the_configured_one(claims):
    rows = rows_of(operating_points_table(study(claims)), "task", "rule")
    for task in ("QA", "Summary", "Data2txt", "pooled"):
        best, configured = rows.loc[(task, "best F1")], rows.loc[(task, "none: as configured")]
        assert best["dev_f1"] >= configured["dev_f1"]
        assert configured["threshold"] == 0.5


@pytest.mark.parametrize("percent", [5, 10, 20])
def test_a_budget_of_clean_answers_is_kept_on_development(claims, percent):
    rows = rows_of(operating_points_table(study(claims)), "rule").loc[f"budget: {percent} %"]
    assert (rows["dev_clean_edited_pct"] <= percent).all()


def test_few_claims_are_counted_by_hand():
    rows = [
        # Clean development answers with least P(support) of .1 to .9: one may be edited of 9.
        *((f"d{k}", "c", "QA", 0, k / 10, 1, 0, "development") for k in range(1, 10)),
        ("d", "c", "QA", 1, 0.05, 1, 1, "development"),
        ("t1", "c", "QA", 1, 0.15, 1, 1, "test"),
        ("t2", "c", "QA", 0, 0.19, 1, 0, "test"),
        ("t3", "c", "QA", 0, 0.95, 1, 0, "test"),
        ("t4", "c", "Summary", 0, 0.95, 1, 0, "test"),
    ]  # fmt: skip
    columns = "record_id claim_id task record_gold p_support aligned gold_unsupported split"
    table = operating_points_table(study(pd.DataFrame(rows, columns=columns.split())))
    found = rows_of(table, "task", "rule")
    row = found.loc[("QA", "budget: 20 %")]
    assert row["threshold"] == pytest.approx(0.2)  # ⌊.2 · 9⌋ = 1: below it lies d1 alone
    assert row["dev_clean_edited_pct"] == pytest.approx(100 / 9)
    assert (row["precision"], row["recall"], row["clean_edited_pct"]) == (0.5, 1, 50)
    assert found.loc[("QA", "best F1")]["threshold"] == pytest.approx(0.1)
    assert "Summary" not in found.index.get_level_values("task")
    assert "without development claims: Summary" in table.notes


def test_without_a_development_split_the_reason_is_given(claims):
    assert without_development(study(claims)) is None
    assert "a development split" in without_development(study(claims.assign(split="test")))
    dev_only_clean = claims[(claims["split"] == "test") | (claims["gold_unsupported"] == 0)]
    assert "a development split" in without_development(study(dev_only_clean))
    rest_only_clean = claims[(claims["split"] != "test") | (claims["gold_unsupported"] == 0)]
    assert "outside the development split" in without_development(study(rest_only_clean))
