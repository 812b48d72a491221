"""The published numbers, each as the string that our tables print."""

from collections.abc import Iterator

import pytest

from ragmend.analysis.printing.table import print_p_value, round_half_up

ARMS = ("removal", "extractive", "generative")
CONDITIONS = ("original", *ARMS)
JUDGES = ("qwen", "llama", "gemma")
SHORT = {"ori": "original", "rem": "removal", "ext": "extractive", "gen": "generative"}
CONTRAST_IDS = {
    "diff": [
        f"{j}.{pair}" for j in JUDGES for pair in ("ori-rem", "ori-gen", "rem-ext", "ext-gen")
    ],
    "lo": [f"{judge}.ori-gen" for judge in JUDGES],
    "hi": [f"{judge}.ori-gen" for judge in JUDGES],
    "holm": [*(f"{judge}.ori-gen" for judge in JUDGES), "llama.ext-gen"],
}


def selection_cells() -> Iterator[tuple[str, str, str, int]]:
    counts = {"n": "n", "flagged": "flagged", "tp": "TP", "fp": "FP", "fn": "FN", "tn": "TN"}
    for name, quantity in {**counts, "unflagged": "unflagged"}.items():
        yield f"sel.{name}", quantity, "value", 0
    rates = {"flag_rate": "flagged", "f1": "F1"}
    rates |= {name: name for name in ("precision", "recall", "base_rate")}
    for name, quantity in rates.items():
        yield f"sel.{name}", quantity, "pct", 1
    for task in ("Data2txt", "Summary", "QA"):
        yield f"mix.{task}", f"task_{task}", "value", 0
    yield "mix.Data2txt.pct", "task_Data2txt", "pct", 1


def arm_cells() -> Iterator[tuple[str, str, str, str, int]]:
    whole = {"kept": "kept", "sub": "substituted", "rewritten": "rewritten", "dropped": "dropped"}
    for arm in ARMS:
        for name, column in whole.items():
            yield f"t3.{arm}.{name}", arm, "all", column, 0
        yield f"t3.{arm}.kept_pct", arm, "all", "kept_pct", 1
        for prefix, group in [("t3", "all"), ("t7.clean", "clean"), ("t7.hall", "hallucinated")]:
            yield f"{prefix}.{arm}.text", arm, group, "retention_pct", 1
            yield f"{prefix}.{arm}.lo", arm, group, "retention_low", 1
            yield f"{prefix}.{arm}.hi", arm, group, "retention_high", 1
        for prefix, group in [("t7.clean", "clean"), ("t7.hall", "hallucinated")]:
            yield f"{prefix}.{arm}.edited", arm, group, "edited_pct", 1
            yield f"{prefix}.{arm}.removed", arm, group, "removed_per_edited", 2


@pytest.mark.parametrize(("row_id", "quantity", "column", "digits"), list(selection_cells()))
def test_the_selection_table_prints_the_published_number(
    golden_analysis, acceptance, row_id, quantity, column, digits
):
    rows = golden_analysis.tables["selection"].frame.set_index("quantity")
    assert round_half_up(rows.loc[quantity, column], digits) == acceptance[row_id]


@pytest.mark.parametrize(("row_id", "arm", "group", "column", "digits"), list(arm_cells()))
def test_the_arms_table_prints_the_published_number(
    golden_analysis, acceptance, row_id, arm, group, column, digits
):
    rows = golden_analysis.tables["table3_arms"].frame.set_index(["arm", "group"])
    assert round_half_up(rows.loc[(arm, group), column], digits) == acceptance[row_id]


@pytest.mark.parametrize("judge", JUDGES)
@pytest.mark.parametrize("condition", CONDITIONS)
def test_table_5_prints_the_published_counts_and_rates(
    golden_analysis, acceptance, judge, condition
):
    rows = golden_analysis.tables["table5_judged"].frame.set_index(["judge", "condition"])
    row = rows.loc[(judge, condition)]
    assert str(row["hallucinated"]) == acceptance[f"t5.{judge}.{condition}.n"]
    assert round_half_up(row["rate_pct"], 1) == acceptance[f"t5.{judge}.{condition}.pct"]


@pytest.mark.parametrize(
    ("key", "what"), [(key, what) for what, keys in CONTRAST_IDS.items() for key in keys]
)
def test_a_contrast_prints_the_published_number(golden_analysis, acceptance, key, what):
    judge, pair = key.split(".")
    name = "-".join(SHORT[part] for part in pair.split("-"))
    rows = golden_analysis.tables["contrasts"].frame.set_index(["judge", "contrast"])
    row = rows.loc[(judge, name)]
    printed = {
        "diff": round_half_up(abs(row["diff_pp"]), 2),  # published as magnitudes
        "lo": round_half_up(row["ci_low"], 2),
        "hi": round_half_up(row["ci_high"], 2),
        "holm": print_p_value(row["p_holm"]),
    }
    assert printed[what] == acceptance[f"contrast.{key}.{what}"]


def test_acceptance_counts_are_the_published_ones(golden_analysis, acceptance):
    rows = golden_analysis.tables["acceptance"].frame.set_index(["candidate", "arm"])
    extract, rewrite = rows.loc[("extract", "extractive")], rows.loc[("rewrite", "generative")]
    fallback = rows.loc[("extract where no rewrite was accepted", "generative")]
    assert str(extract["eligible"]) == acceptance["ver.eligible"]
    assert str(rewrite["proposed"]) == acceptance["t3.gen.proposed"]
    assert str(extract["accepted"]) == acceptance["t3.extractive.sub"]
    assert str(rewrite["accepted"]) == acceptance["t3.generative.rewritten"]
    assert str(fallback["accepted"]) == acceptance["t3.generative.sub"]


@pytest.mark.parametrize("route", range(3))
def test_the_papers_own_counts_stand_beside_ours(golden_analysis, route):
    row = golden_analysis.tables["acceptance"].frame.iloc[route]
    assert row["paper_accepted"] == row["accepted"]
    assert row["paper_eligible"] in (None, row["eligible"])
    assert row["paper_proposed"] in (None, row["proposed"])


def test_3_27_cannot_come_out_of_any_data_and_prints_3_28(golden_analysis):
    rows = golden_analysis.tables["contrasts"].frame.set_index(["judge", "contrast"])
    row = rows.loc[("qwen", "extractive-generative")]
    assert (row["c"] - row["b"], row["n"]) == (30, 916)
    assert round_half_up(row["diff_pp"], 2) == "3.28"


@pytest.mark.parametrize(
    ("judge", "contrast", "b", "c"),
    [
        ("qwen", "original-generative", 276, 16),
        ("llama", "original-generative", 210, 19),
        ("gemma", "original-generative", 18, 4),
        ("llama", "extractive-generative", 25, 38),
    ],
)
def test_the_discordant_pairs_that_published_numbers_force_come_out(
    golden_analysis, judge, contrast, b, c
):
    rows = golden_analysis.tables["contrasts"].frame.set_index(["judge", "contrast"])
    assert tuple(rows.loc[(judge, contrast), ["b", "c"]]) == (b, c)


def test_every_other_published_number_belongs_to_a_table_not_yet_made(acceptance):
    later = ("t1.", "welch.", "ver.", "t2.", "t6.", "sec7.4.", "rel.")
    covered = {cell[0] for cell in (*selection_cells(), *arm_cells())}
    covered |= {f"contrast.{key}.{what}" for what, keys in CONTRAST_IDS.items() for key in keys}
    covered |= {f"t5.{j}.{c}.{what}" for j in JUDGES for c in CONDITIONS for what in ("n", "pct")}
    covered |= {"ver.eligible", "t3.gen.proposed"}
    assert covered <= set(acceptance)
    assert [row for row in acceptance if row not in covered and not row.startswith(later)] == []
