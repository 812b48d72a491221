"""The other commands, and one clear line for everything that can be wrong."""

import json
import shutil
from pathlib import Path

import pytest

from ragmend.datasets.ragtruth import demo_folder


def lines_of(path):
    return path.read_text("utf-8").rstrip("\n").split("\n")


def broken_data(tmp_path, change):
    """Copy the built-in data with its first response changed by a function of it."""
    folder = Path(shutil.copytree(demo_folder(), tmp_path / "data"))
    lines = (folder / "response.jsonl").read_text().split("\n")
    row = json.loads(lines[0])
    lines[0] = json.dumps(change(row) or row)
    (folder / "response.jsonl").write_text("\n".join(lines))
    return folder


@pytest.fixture
def run_on(tmp_path, ragmend):
    """Run the demonstration's configuration on another folder of data."""
    config = tmp_path / "c.toml"
    config.write_text(
        'name = "x"\n[data]\npath = "none"\n[detector]\nkind = "lexical"\n'
        '[judges]\nprimary = "overlap"\n[[judges.panel]]\nname = "overlap"\n'
    )

    def run(*words):
        return ragmend("run", config, "--out", tmp_path / "run", *words)

    return run


def assert_one_line(done, words):
    lines = done.stderr.strip().splitlines()
    errors = [line for line in lines if line.startswith("ragmend: ")]
    assert done.returncode == 1, done.stderr
    assert len(errors) == 1
    assert words in errors[0]
    assert lines[-1] == errors[0]
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("verifier.treshold=0.4", "did you mean 'verifier.threshold'"),
        ("verifier.threshold=1.5", "verifier.threshold: Input should be less than or equal to 1"),
        ("data.path=/nowhere", "/nowhere: no such folder"),
        ("verifier.parameters=/nowhere.json", "/nowhere.json: no such"),
        ("judges.primery=overlap", "did you mean 'judges.primary'"),
        ("jugdes.primary=overlap", "did you mean 'judges"),
        ("data.tasks=[]", "data.tasks"),
        ('data.tasks=["QA", "QA"]', "`tasks` must differ"),
        ("data.path=~nosuchuser/x", "~nosuchuser/x"),
    ],
)
def test_a_bad_configuration_is_one_line_and_writes_nothing(run_on, tmp_path, override, words):
    assert_one_line(run_on("--set", f"data.path={demo_folder()}", "--set", override), words)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda row: {**row, "id": "1002"}, "id '1002' appears twice"),
        (lambda row: row["labels"][0].update(end=99_999), "leaves the text"),
        (lambda row: {**row, "source_id": "none"}, "source 'none' is not in"),
        (lambda row: {**row, "split": "dev"}, "split: Input should be"),
    ],
)
def test_bad_data_is_one_line_with_file_and_line(run_on, tmp_path, change, words):
    def with_label(row):
        if not row["labels"]:
            row["labels"] = [
                {
                    "start": 0,
                    "end": 1,
                    "text": row["response"][0],
                    "meta": "",
                    "label_type": "Evident Conflict",
                    "implicit_true": False,
                    "due_to_null": False,
                }
            ]
        return change(row)

    folder = broken_data(tmp_path, with_label)
    done = run_on("--set", f"data.path={folder}")
    assert_one_line(done, words)
    assert "response.jsonl:" in done.stderr
    assert not list((tmp_path / "run").rglob("*.jsonl"))


@pytest.mark.parametrize("system", ["../../x", "..", "a//b", "/x", "x" * 300])
def test_a_system_that_would_leave_the_run_folder_is_refused(run_on, tmp_path, system):
    predictions = tmp_path / "p.jsonl"
    predictions.write_text(json.dumps({"id": "1", system: 1}) + "\n")
    done = run_on(
        *("--set", f"data.path={demo_folder()}"),
        *("--set", "detector.kind=predictions"),
        *("--set", f"detector.predictions={predictions}"),
        *("--set", f"detector.system={system}"),
    )
    assert_one_line(done, "cannot name a folder of the run")
    assert not (tmp_path / "run").exists()


def test_a_run_folder_that_is_a_file_is_one_line(ragmend, tmp_path):
    (tmp_path / "f").write_text("x")
    assert_one_line(ragmend("run", "demo", "--out", tmp_path / "f"), "is a file, a folder was")


def test_faults_are_accepted_only_with_a_reason(ragmend, tmp_path):
    done = ragmend("run", "demo", "--out", tmp_path / "run", "--accept-faults", " ")
    assert done.returncode == 2
    assert "give a reason" in done.stderr


def test_scores_that_select_did_not_write_are_not_printed(run, ragmend):
    scores = run / "02-population/detector_scores.jsonl"
    scores.write_text(scores.read_text().replace('"tp":', '"tp":9'))
    assert_one_line(ragmend("detect", "score", run), "stage select is damaged")


def test_a_run_keeps_what_a_variable_held_even_if_it_looks_like_one(ragmend, tmp_path):
    folder = shutil.copytree(demo_folder(), tmp_path / "d${X}")
    config = tmp_path / "c.toml"
    config.write_text(
        'name = "x"\n[data]\npath = "${WHERE}"\n[detector]\nkind = "lexical"\n'
        '[judges]\nprimary = "overlap"\n[[judges.panel]]\nname = "overlap"\n'
    )
    words = ("run", config, "--out", tmp_path / "run", "--only", "detect")
    assert ragmend(*words, env={"WHERE": str(folder)}).returncode == 0
    assert ragmend("status", tmp_path / "run").returncode == 0


def test_an_empty_population_is_one_line(run_on, tmp_path):
    predictions = tmp_path / "p.csv"
    rows = [json.loads(line)["id"] for line in lines_of(demo_folder() / "response.jsonl")]
    predictions.write_text("id,verdict\n" + "".join(f"{i},clean\n" for i in rows))
    done = run_on(
        *("--set", f"data.path={demo_folder()}"),
        *("--set", "detector.kind=predictions"),
        *("--set", f"detector.predictions={predictions}"),
    )
    assert_one_line(done, "the population is empty: run 'p' flagged 0 of 48 responses")


@pytest.mark.slow
def test_answers_that_nobody_annotated_are_repaired_and_judged_but_not_scored(run_on, tmp_path):
    folder = Path(shutil.copytree(demo_folder(), tmp_path / "data"))
    rows = [json.loads(line) for line in lines_of(folder / "response.jsonl")]
    for row in rows:
        del row["labels"]
    (folder / "response.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = run_on("--set", f"data.path={folder}")
    assert done.returncode == 0, done.stderr
    assert "48 responses without annotation" in done.stderr
    tables = tmp_path / "run/tables"
    assert "no gold labels: scores against gold are undefined" in (
        tables / "selection.md"
    ).read_text("utf-8")
    arms = (tables / "table3_arms.csv").read_text().splitlines()
    assert [row.split(",")[1] for row in arms[1:]] == ["all", "all", "all"]


@pytest.mark.slow
def test_a_flagged_answer_without_text_is_counted_and_not_repaired(run_on, tmp_path):
    def without_text(row):
        return {**row, "response": " ", "labels": []}

    folder = broken_data(tmp_path, without_text)
    rows = [json.loads(line)["id"] for line in lines_of(folder / "response.jsonl")]
    predictions = tmp_path / "p.csv"
    predictions.write_text("id,verdict\n" + "".join(f"{i},1\n" for i in rows))
    done = run_on(
        *("--set", f"data.path={folder}"),
        *("--set", "detector.kind=predictions"),
        *("--set", f"detector.predictions={predictions}"),
    )
    assert done.returncode == 0, done.stderr
    assert "flagged 48, flagged_without_text 1, population 47" in done.stderr


def test_a_refused_first_run_leaves_no_folder(run_on, tmp_path):
    folder = broken_data(tmp_path, lambda row: {**row, "id": "1002"})
    assert_one_line(run_on("--set", f"data.path={folder}"), "appears twice")
    assert not (tmp_path / "run").exists()


def test_an_unset_variable_is_named(ragmend, tmp_path):
    done = ragmend("run", "ragtruth-cpu", cwd=tmp_path, env={"RAGMEND_DATA": ""})
    assert_one_line(done, "needs the environment variable RAGMEND_DATA")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_other_things_in_it_is_not_written_to(ragmend, tmp_path):
    (tmp_path / "thesis.txt").write_text("x")
    assert_one_line(ragmend("run", "demo", "--out", tmp_path), "is not empty and is not a run")
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.txt"]


def test_usage_errors_exit_with_two(ragmend):
    assert ragmend("run").returncode == 2
    assert ragmend("run", "demo", "--only", "nothing").returncode == 2


def test_status_shows_states_and_counts_and_loads_nothing_heavy(run, ragmend):
    (run / "09-analysis/report-manifest.json").unlink()
    done = ragmend("status", run)
    assert done.returncode == 0
    lines = {line.split()[0]: line for line in done.stdout.splitlines()[1:]}
    assert "complete" in lines["verify"]
    assert "verdicts" in lines["verify"]
    assert "missing" in lines["report"]
    claims = run / "03-claims/claims.jsonl"
    claims.write_bytes(b"")
    done = ragmend("status", run)
    assert "damaged" in next(x for x in done.stdout.splitlines() if x.startswith("split"))
    assert "stale" in next(x for x in done.stdout.splitlines() if x.startswith("match"))
    judge = next(x for x in done.stdout.splitlines() if x.startswith("judge"))
    assert "complete" in judge
    assert "but split, before it, is not" in judge
    assert "--redo" in done.stdout


def test_status_of_no_run_is_one_line(ragmend, tmp_path):
    assert_one_line(ragmend("status", tmp_path), "no run folder")


def test_split_prints_claims_of_many_files_as_json_lines(ragmend, tmp_path):
    (tmp_path / "a.txt").write_text("It is red. It is old.")
    (tmp_path / "b.txt").write_text("So it is.")
    done = ragmend("split", tmp_path / "a.txt", tmp_path / "b.txt")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(row["claim_id"], row["text"], row["start"], row["end"]) for row in rows] == [
        ("a-s0-c0", "It is red.", 0, 10),
        ("a-s1-c0", "It is old.", 11, 21),
        ("b-s0-c0", "So it is.", 0, 9),
    ]
    assert rows[0]["file"] == str(tmp_path / "a.txt")


def test_split_reads_standard_input_and_names_a_bad_file(ragmend, tmp_path):
    done = ragmend("split", "-", stdin="Ça va. Été 2😀.")
    assert [json.loads(line)["text"] for line in done.stdout.splitlines()] == ["Ça va.", "Été 2😀."]
    (tmp_path / "x.txt").write_bytes(b"\xff")
    assert_one_line(ragmend("split", tmp_path / "x.txt"), "x.txt: not UTF-8")
    assert_one_line(ragmend("split", tmp_path / "y.txt"), "y.txt: no such file")


def test_detect_score_prints_levels_groups_and_macro(finished, ragmend):
    done = ragmend("detect", "score", finished)
    assert done.returncode == 0
    rows = [line.split() for line in done.stdout.splitlines()]
    assert ["all", "response", "pooled"] in [row[:3] for row in rows]
    assert ["all", "span", "macro"] in [row[:3] for row in rows]


@pytest.mark.slow
def test_fit_verifier_gives_the_shipped_parameters_on_the_real_train_records(
    real_data, ragmend, tmp_path
):
    from ragmend.repair.lexical.parameters import load_parameters

    out = tmp_path / "v.json"
    done = ragmend("fit-verifier", "--data", real_data / "ragtruth", "--out", out)
    assert done.returncode == 0, done.stderr
    assert "held-out AUC" in done.stdout
    fitted, shipped = load_parameters(out), load_parameters()
    for name in ("claim_model", "answer_model"):
        ours, theirs = getattr(fitted, name), getattr(shipped, name)
        assert ours.shift == pytest.approx(theirs.shift, abs=1e-6)
        for curve, other in zip(ours.curves, theirs.curves, strict=True):
            assert curve.knots == pytest.approx(other.knots, abs=1e-9)
            assert curve.values == pytest.approx(other.values, abs=1e-5)
    assert fitted.fitting.source_ids == shipped.fitting.source_ids


@pytest.mark.slow
def test_the_real_run_goes_from_recorded_verdicts_to_finished_tables(real_data, ragmend, tmp_path):
    out = tmp_path / "run"
    done = ragmend("run", "ragtruth-cpu", "--out", out, env={"RAGMEND_DATA": str(real_data)})
    assert done.returncode == 0, done.stderr
    selection = (out / "tables/selection.csv").read_text()
    assert "180 responses to development sources (left out)" in done.stderr
    assert "left_out 180, unknown_records_ignored 486" in done.stderr
    assert (out / "tables/contrasts.csv").read_text().count("\n") == 1 + 3 * 6
    assert selection.splitlines()[1].startswith("n,responses,2034,")
