"""`ragmend analyze` on tables of one's own: from files to tables, or to a plain refusal."""

import json
from pathlib import Path

import pandas as pd
import pytest

GOLDEN = Path(__file__).parents[1] / "golden" / "analysis"
INPUTS = {
    "labels": "reconstructed_labels.csv",
    "claims": "reconstructed_verifier.csv",
    "arms": "reconstructed_arms.csv",
    "records": "reconstructed_records.csv",
    "selection": "reconstructed_selection.csv",
    "runs": "published_seed_f1.csv",
    "published": "published_teqhallu.csv",
}
FAST = ("--resamples", 200, "--svg-only")


def inputs(*names):
    return [word for name in names for word in (f"--{name}", GOLDEN / INPUTS[name])]


def own_labels(n=30):
    """Two judges, three conditions, two tasks, sources of three records each."""
    return pd.DataFrame(
        [
            {
                "record_id": f"r{i:02}",
                "source_id": f"s{i // 3}",
                "task": "A" if i % 2 else "B",
                "gold": int(i % 3 == 0),
                "judge": judge,
                "condition": condition,
                "label": int((i + shift) % period == 0),
            }
            for i in range(n)
            for judge, shift in (("first", 0), ("second", 1))
            for condition, period in (("base", 2), ("better", 3), ("other", 4))
        ]
    )


@pytest.fixture(scope="module")
def golden_out(tmp_path_factory):
    return tmp_path_factory.mktemp("golden") / "out"


@pytest.mark.slow
def test_every_golden_input_gives_every_table_that_files_allow(command, golden_out):
    done = command("analyze", *inputs(*INPUTS), "--out", golden_out, "--svg-only")
    assert done.returncode == 0, done.stderr
    made = {path.stem for path in (golden_out / "tables").iterdir()}
    assert {
        "selection",
        "table1_detectors",
        "table2_verifier",
        "table3_arms",
        "table5_judged",
        "table6_tasks",
        "table7_clean_and_hallucinatory",
        "judge_reliability",
        "contrasts",
        "agreement",
        "claims_of_the_text",
        "provenance",
    } <= made
    assert "tables of other inputs; the report lists them" in done.stdout
    for name in made:
        for form in ("csv", "md", "tex"):
            assert (golden_out / "tables" / f"{name}.{form}").stat().st_size > 0
    assert (golden_out / "report.md").stat().st_size > 1000
    assert "7.0e-62" in done.stdout


def test_every_published_number_is_ours_or_explained(command):
    done = command("analyze", *inputs(*INPUTS), "--check", GOLDEN / "acceptance.csv")
    assert done.returncode == 0, done.stderr
    assert "240 ok, 2 explained" in done.stdout


def test_a_number_whose_input_was_not_given_is_not_taken_for_right(command):
    done = command("analyze", *inputs("selection"), "--check", GOLDEN / "acceptance.csv")
    assert done.returncode == 1
    assert "not every number is as published" in done.stderr


def test_a_number_that_differs_is_told_and_fails(command, tmp_path):
    published = tmp_path / "published.csv"
    published.write_text("id,location,published\nsel.n,Sec 4,2701\nsel.tp,Sec 4,740\n")
    done = command("analyze", *inputs("selection"), "--check", published)
    assert done.returncode == 1
    assert "1 ok, 0 explained, 1 differ" in done.stdout
    assert "not every number is as published" in done.stderr


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_csv_jsonl_and_parquet_give_the_same_numbers(command, tmp_path, form):
    labels = own_labels()
    path = tmp_path / f"mine.{form}"
    if form == "csv":
        labels.sample(frac=1, random_state=1).to_csv(path, index=False)
    elif form == "jsonl":
        labels.to_json(path, orient="records", lines=True)
    else:
        labels.to_parquet(path)
    done = command(
        "analyze", "--labels", path, "--reference", "base", "--out", tmp_path / form, *FAST
    )
    assert done.returncode == 0, done.stderr
    contrasts = pd.read_csv(tmp_path / form / "tables" / "contrasts.csv")
    assert contrasts["contrast"].tolist() == ["base-better", "base-other", "better-other"] * 2
    assert contrasts["family"].tolist() == ["primary", "primary", "exploratory"] * 2
    assert contrasts["diff_pp"].round(9).tolist()[0] == round(100 * (10 - 15) / 30, 9)


def test_a_family_of_ones_own_is_the_primary_one(command, tmp_path):
    path = tmp_path / "mine.csv"
    own_labels().to_csv(path, index=False)
    out = tmp_path / "out"
    family = ("--family", "better-other,base:better")
    done = command("analyze", "--labels", path, "--reference", "base", *family, "--out", out, *FAST)
    assert done.returncode == 0, done.stderr
    contrasts = pd.read_csv(out / "tables" / "contrasts.csv")
    assert contrasts.query("family == 'primary'")["contrast"].tolist()[:2] == [
        "better-other",
        "base-better",
    ]


def test_labels_without_a_reference_give_the_agreement_alone(command, tmp_path):
    path = tmp_path / "mine.csv"
    own_labels().drop(columns=["gold", "task", "source_id"]).to_csv(path, index=False)
    done = command("analyze", "--labels", path, "--out", tmp_path / "out", *FAST)
    assert done.returncode == 0, done.stderr
    made = {path.stem for path in (tmp_path / "out" / "tables").glob("*.csv")}
    assert "agreement" in made
    assert "contrasts" not in made
    assert (
        "equivalence: no reference condition is named (reference, family): nothing is compared"
        in done.stdout
    )


def test_one_condition_is_enough_for_agreement(command, tmp_path):
    path = tmp_path / "mine.csv"
    own_labels().query("condition == 'base'").to_csv(path, index=False)
    done = command("analyze", "--labels", path, "--out", tmp_path / "out", *FAST)
    assert done.returncode == 0, done.stderr
    agreement = pd.read_csv(tmp_path / "out" / "tables" / "agreement.csv")
    assert "gold" in set(agreement["rater_a"]) | set(agreement["rater_b"])


def test_incomplete_records_are_refused_and_dropped_only_when_asked(command, tmp_path):
    path = tmp_path / "mine.csv"
    own_labels().drop(index=7).to_csv(path, index=False)
    words = ("analyze", "--labels", path, "--reference", "base", "--out", tmp_path / "out", *FAST)
    refused = command(*words)
    assert refused.returncode == 1
    assert "record r01, judge first, condition better: no label (1 of 180" in refused.stderr
    assert not (tmp_path / "out").exists()
    dropped = command(*words, "--incomplete", "drop")
    assert dropped.returncode == 0, dropped.stderr
    assert "1 record" in dropped.stdout


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.assign(label=t["label"].replace(1, 2)), "label: expected 0 or 1, found '2'"),
        (lambda t: pd.concat([t, t.iloc[[4]]]), "row 181, record r00, judge second, condition"),
        (lambda t: t.drop(columns="judge"), r"lacks the column(s) judge"),
        (lambda t: t.iloc[:0], "has no rows"),
        (lambda t: t.assign(judge=t["judge"].replace("first", "gold")), "gold"),
        (lambda t: t.assign(judge=t["judge"].replace("first", "")), "row 1, record r00, judge (bl"),
        (
            lambda t: t.assign(condition=t["condition"].replace("other", "")),
            "row 3, record r00, judge first, condition (blank): condition is missing",
        ),
    ],
)
def test_a_table_that_is_wrong_is_refused_with_file_row_and_key(command, tmp_path, change, message):
    path = tmp_path / "mine.csv"
    change(own_labels()).to_csv(path, index=False)
    done = command(
        "analyze", "--labels", path, "--reference", "base", "--out", tmp_path / "out", *FAST
    )
    assert done.returncode == 1
    assert message in done.stderr
    assert "mine.csv" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "give a RUN, or at least one of --labels"),
        (("--labels", "x.csv"), "give --out DIR"),
        (("run", "--labels", "x.csv"), "give RUN alone"),
        (("run", "--reference", "a"), "give RUN alone"),
        (("--labels", "x.csv", "--out", "o", "--confidence", "1.5"), "confidence"),
        (("--labels", "x.csv", "--out", "o", "--confidence", "0.9999999999999999"), "confidence"),
        (("--labels", "x.csv", "--out", "o", "--confidence", "nan"), "nan is not a number"),
        (("--labels", "x.csv", "--out", "o", "--threshold", "nan"), "nan is not a number"),
        (("--labels", "x.csv", "--out", "o", "--margin", "nan"), "nan is not a number"),
        (("--labels", "x.csv", "--out", "o", "--reference", ""), "--reference needs a name"),
        (("--labels", "x.csv", "--out", "o", "--same-family", ""), "--same-family needs a name"),
        (("--labels", "x.csv", "--out", "o", "--family", ""), "--family needs a name"),
        (("--labels", "x.csv", "--out", "o", "--family", "a-b,"), "a contrast is missing"),
        (("--labels", "x.csv", "--labels", "y.csv", "--out", "o"), "given 2 times"),
        (("--arms", "x.csv", "--out", "o", "--reference", "a"), "--reference is about --labels"),
        (("--arms", "x.csv", "--out", "o", "--same-family", "a"), "--same-family is about --lab"),
    ],
)
def test_words_that_do_not_fit_together_are_a_usage_error(command, words, message):
    done = command("analyze", *words)
    assert done.returncode == 2
    assert message in done.stderr


def test_the_folder_of_a_run_is_not_written_over(command, finished):
    done = command("analyze", *inputs("selection"), "--out", finished)
    assert done.returncode == 1
    assert "is the folder of a run" in done.stderr


@pytest.mark.parametrize("word", ["--same-family", "--primary-judge"])
def test_a_judge_that_does_not_occur_is_no_judge(command, tmp_path, word):
    path = tmp_path / "mine.csv"
    own_labels().to_csv(path, index=False)
    out = ("--reference", "base", "--out", tmp_path / "out", *FAST)
    done = command("analyze", "--labels", path, word, "frist", *out)
    assert done.returncode == 1
    assert f"{word} 'frist': no such judge" in done.stderr
    assert "there are first, second" in done.stderr


def test_the_check_is_read_before_anything_is_computed(command, tmp_path):
    published = tmp_path / "published.csv"
    published.write_text("id,location,published\n")
    out = tmp_path / "out"
    done = command("analyze", *inputs("selection"), "--check", published, "--out", out, *FAST)
    assert done.returncode == 1
    assert "published.csv: no rows, so that nothing would be checked" in done.stderr
    assert not out.exists()


def test_names_that_no_font_has_and_names_without_end_are_drawn(command, tmp_path):
    path = tmp_path / "mine.csv"
    judges = {"first": "日本🙂\x1b", "second": "x" * 3000}
    conditions = {"better": "b\x01" * 40}
    own_labels().replace({"judge": judges, "condition": conditions}).to_csv(path, index=False)
    words = ("--reference", "base", "--out", tmp_path / "out")
    done = command("analyze", "--labels", path, *words)
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr
    assert (tmp_path / "out" / "figures" / "judged_rates.pdf").stat().st_size < 500_000


def test_what_an_earlier_analysis_left_there_does_not_stay(command, tmp_path):
    out = tmp_path / "out"
    assert command("analyze", *inputs("selection", "arms"), "--out", out, *FAST).returncode == 0
    assert (out / "tables" / "table3_arms.csv").exists()
    assert command("analyze", *inputs("selection"), "--out", out, *FAST).returncode == 0
    assert not (out / "tables" / "table3_arms.csv").exists()
    assert (out / "tables" / "selection.csv").exists()


def test_figures_come_as_svg_pdf_and_png(command, tmp_path):
    path = tmp_path / "mine.csv"
    own_labels().to_csv(path, index=False)
    out = tmp_path / "out"
    done = command("analyze", "--labels", path, "--reference", "base", "--out", out)
    assert done.returncode == 0, done.stderr
    for form, start in (("svg", b"<?xml"), ("pdf", b"%PDF"), ("png", b"\x89PNG")):
        assert (out / "figures" / f"judged_rates.{form}").read_bytes().startswith(start)


def test_running_twice_writes_the_same_bytes(command, tmp_path):
    path = tmp_path / "mine.csv"
    own_labels().to_csv(path, index=False)
    words = ("analyze", "--labels", path, "--reference", "base", *FAST, "--out")
    for name in ("one", "two"):
        assert command(*words, tmp_path / name).returncode == 0
    one, two = (
        {p.relative_to(tmp_path / name): p.read_bytes() for p in (tmp_path / name).rglob("*.*")}
        for name in ("one", "two")
    )
    assert one == two


def test_the_command_in_the_provenance_makes_the_numbers_again(command, tmp_path):
    path = tmp_path / "mine.csv"
    own_labels().to_csv(path, index=False)
    words = ("--reference", "base", "--family", "base-better", *FAST)
    assert command("analyze", "--labels", path, *words, "--out", tmp_path / "o").returncode == 0
    rows = pd.read_csv(tmp_path / "o" / "tables" / "provenance.csv")
    (line,) = set(rows["command"])
    again = command(*line.replace("DIR", str(tmp_path / "again")).split()[1:])
    assert again.returncode == 0, again.stderr
    for name in ("contrasts.csv", "agreement.csv", "provenance.csv"):
        first = (tmp_path / "o" / "tables" / name).read_bytes()
        assert (tmp_path / "again" / "tables" / name).read_bytes() == first
    assert json.loads((tmp_path / "o" / "analysis.json").read_text())["tables"]
