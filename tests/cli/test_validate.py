import json

import pytest

from ragmend.datasets.ragtruth import demo_folder, development_sources
from ragmend.repair.lexical.parameters import load_parameters

FEW = ("--set", "analysis.n_resamples=200")


@pytest.fixture
def own_data(tmp_path):
    """The demonstration answers as anybody's files, with two of the fitted sources among them."""
    fitted = sorted(development_sources())[:2]
    names = {}

    def renamed(source_id):
        return names.setdefault(source_id, fitted[len(names)] if len(names) < 2 else source_id)

    folder = tmp_path / "data"
    folder.mkdir()
    for name in ("source_info.jsonl", "response.jsonl"):
        rows = [json.loads(line) for line in (demo_folder() / name).read_text().splitlines()]
        rows = [{**row, "source_id": renamed(row["source_id"])} for row in rows]
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    config = tmp_path / "own.toml"
    config.write_text(
        f'name = "own"\n[data]\npath = "{folder}"\n[detector]\nkind = "lexical"\n'
        '[judges]\nprimary = "overlap"\n[[judges.panel]]\nname = "overlap"\n'
    )
    return config


def test_the_tables_of_both_sets_of_features_are_printed_and_written(ragmend, tmp_path):
    done = ragmend("validate-verifier", "demo", *FEW, "--out", tmp_path / "v")
    assert done.returncode == 0, done.stderr
    assert "Verifier against gold: thresholds" in done.stdout
    assert "with answer-level features †" in done.stdout
    assert "a score, not a probability" in done.stdout
    assert (
        sorted(path.suffix for path in (tmp_path / "v/tables").iterdir())
        == 2
        * [
            ".csv",
            ".md",
            ".tex",
        ]
        or len(list((tmp_path / "v/tables").iterdir())) == 6
    )


def test_flagged_answers_alone_are_fewer(ragmend):
    everything = ragmend("validate-verifier", "demo", *FEW).stdout
    flagged = ragmend("validate-verifier", "demo", *FEW, "--population", "flagged").stdout
    assert "all answers, without 0 to sources" in everything
    assert "answers that the detector flagged, without 0" in flagged
    assert n_claims(flagged) < n_claims(everything)


def n_claims(printed):
    (row,) = (
        line
        for line in printed.splitlines()
        if line.startswith("claim and source") and "pooled" in line
    )
    return int(row.split()[6])


@pytest.mark.parametrize("policy", ["keep", "leave_out"])
def test_what_the_verifier_was_fitted_on_is_left_out_and_counted(ragmend, own_data, policy):
    done = ragmend("validate-verifier", own_data, *FEW, "--set", f"data.development={policy}")
    assert done.returncode == 0, done.stderr
    assert "without 8 to sources that the verifier was fitted on" in done.stdout


@pytest.mark.slow
def test_a_run_over_fitted_sources_says_so_under_every_table(ragmend, own_data, tmp_path):
    done = ragmend("run", own_data, "--out", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    for table in sorted((tmp_path / "run/tables").glob("*.md")):
        assert "sources that the verifier was fitted on" in table.read_text(), table.name
    assert "sources that the verifier was fitted on" in (tmp_path / "run/report.md").read_text()


@pytest.mark.slow
def test_a_run_without_them_says_how_many_are_left_out(ragmend, own_data, tmp_path):
    done = ragmend(
        "run", own_data, "--out", tmp_path / "run", "--set", "data.development=leave_out"
    )
    assert done.returncode == 0, done.stderr
    table = (tmp_path / "run/tables/selection.md").read_text()
    assert "8 answers to the sources on which the embedded verifier was developed" in table
    assert "was fitted on: their figures" not in table


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("nowhere",), "neither a file nor a shipped configuration"),
        (("demo", "--set", "verifier.parameters=nowhere.json"), "no such parameter file"),
        (("demo", "--set", "evidence.window=2"), "evidence.window must be 1"),
        (("demo", "--set", "evidence.top_k=2"), "evidence.top_k at least 3"),
    ],
)
def test_what_cannot_be_validated_is_one_clear_line(ragmend, words, expected):
    done = ragmend("validate-verifier", *words)
    assert done.returncode == 1
    assert expected in done.stderr
    assert done.stderr.startswith("ragmend: ")
    assert done.stderr.count("\n") == 1


def test_where_every_source_was_fitted_on_the_reason_is_given(ragmend, own_data, tmp_path):
    stored = load_parameters()
    everything = tuple(
        json.loads(line)["source_id"]
        for line in (tmp_path / "data/source_info.jsonl").read_text().splitlines()
    )
    fitting = stored.fitting.model_copy(update={"source_ids": everything})
    path = tmp_path / "mine.json"
    path.write_text(stored.model_copy(update={"fitting": fitting}).model_dump_json())
    done = ragmend("validate-verifier", own_data, "--set", f"verifier.parameters={path}")
    assert done.returncode == 1
    assert "of 48 answers 48 are to sources that the verifier was fitted on" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("population", ["all", "flagged"])
def test_the_embedded_verifier_orders_the_real_test_claims(
    real_data, ragmend, tmp_path, population
):
    done = ragmend(
        "validate-verifier",
        "--population",
        population,
        "--out",
        tmp_path,
        env={"RAGMEND_DATA": str(real_data)},
    )
    assert done.returncode == 0, done.stderr
    rows = [
        line.split(",") for line in (tmp_path / "tables/verifier_auc.csv").read_text().splitlines()
    ]
    column = rows[0].index("auc")
    pooled = {row[0]: float(row[column]) for row in rows[1:] if row[1] == "pooled"}
    assert pooled["claim and source"] >= 0.76
    assert pooled["with answer-level features †"] >= 0.78
