"""The equivalence table: the golden verdicts, their rule, and how little data prints."""

import pandas as pd
import pytest

from ragmend.analysis import Frames, Provenance, Settings, tango_interval
from ragmend.analysis.printing.table import print_rows
from ragmend.analysis.printing.write import table_csv, table_markdown
from ragmend.analysis.study import Study
from ragmend.analysis.tables.equivalence_table import equivalence_table

FAST = Settings(n_resamples=50)
PROVENANCE = Provenance(judges=("qwen", "llama", "gemma"))


@pytest.fixture(scope="module")
def golden(golden_frames) -> Study:
    return Study(golden_frames, FAST, PROVENANCE)


def test_of_the_golden_contrasts_one_is_equivalent_and_none_undecided(golden):
    frame = equivalence_table(golden).frame
    assert len(frame) == 18
    counts = frame["verdict"].value_counts().to_dict()
    assert counts == {"different": 12, "different but within the margin": 5, "equivalent": 1}
    (row,) = frame[frame["verdict"] == "equivalent"].to_dict("records")
    assert (row["judge"], row["contrast"]) == ("llama", "extractive-generative")
    assert row["p_difference"] == pytest.approx(0.1299, abs=5e-5)
    assert row["p_tost"] < 0.05


def test_the_verdict_follows_from_the_interval_and_the_adjusted_p(golden):
    table = equivalence_table(golden)
    for contrast, row in zip(golden.contrasts, table.frame.to_dict("records"), strict=True):
        # tango_interval(b, c, n, confidence=.90) is checked against R in its own tests.
        low, high = tango_interval(contrast.b, contrast.c, contrast.n, confidence=0.90)
        assert (row["ci90_low"], row["ci90_high"]) == pytest.approx((100 * low, 100 * high))
        p = contrast.p_exact if contrast.family == "exploratory" else contrast.p_holm
        assert row["p_difference"] == p
        assert row["verdict"].startswith("different") == (p < 0.05)
        within = max(-row["ci90_low"], row["ci90_high"]) < 5
        assert (row["verdict"] in ("equivalent", "different but within the margin")) == within


def test_a_narrow_margin_leaves_undecided_and_claims_nothing(golden_frames):
    strict = FAST.model_copy(update={"margin_pp": 1.0})
    table = equivalence_table(Study(golden_frames, strict, PROVENANCE))
    row = table.frame.set_index(["judge", "contrast"]).loc[("llama", "extractive-generative")]
    assert (row["verdict"], row["margin_pp"]) == ("undecided", 1.0)
    # 63 of 916 changed: Connor's formula, (√916 · 1.95996 + .84162 √(916 + .7083 − 3.8415)) ·
    # √(63/916) / (916 + .7083) = 2.4245 points
    assert row["mde_pp"] == pytest.approx(2.4245, abs=5e-5)
    assert row["n_needed"] > 916
    text = table_markdown(table).lower()
    assert "no difference" not in text
    assert "the same rate" not in text
    assert "± 1 points" in text


def test_the_power_of_the_settings_is_used(golden, golden_frames):
    higher = FAST.model_copy(update={"power": 0.95})
    low = equivalence_table(golden).frame
    high = equivalence_table(Study(golden_frames, higher, PROVENANCE)).frame
    assert (high["mde_pp"] > low["mde_pp"]).all()
    assert (high["n_needed"] > low["n_needed"]).all()


def test_labels_that_never_change_print_their_gaps_with_the_reason(golden_frames):
    labels = golden_frames.labels.query("judge == 'qwen' and condition == 'original'")
    frames = Frames(labels=pd.concat([labels, labels.assign(condition="removal")]))
    table = equivalence_table(Study(frames, FAST, Provenance()))
    (row,) = table.frame.to_dict("records")
    assert row["verdict"] == "equivalent"
    # Even then not certain: z² / (n + z²) with z = 1.645
    assert row["ci90_high"] == pytest.approx(100 * 2.7055 / 918.7055, abs=1e-4)
    assert (row["mde_pp"], row["n_needed"]) == (None, None)
    assert print_rows(table)[0][-2:] == ["—", "—"]
    assert any(note.startswith("detectable —") for note in table.notes)
    assert any(note.startswith("records needed —") for note in table.notes)
    assert b"nan" not in table_csv(table)
