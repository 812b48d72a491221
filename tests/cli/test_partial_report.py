"""The report of what exists of a run that is not finished, and what it says is missing."""

import json
import re
import shutil

import pytest

from ragmend.analysis.tables import recipes
from ragmend.cli.engine import run_lock
from ragmend.cli.experiment import reopen_experiment
from ragmend.cli.partial.report import report_what_exists
from ragmend.cli.sharding.parts import fix_plan, parts_of_stage
from ragmend.errors import StatisticsError
from ragmend.io import sha256_of_file
from ragmend.paths import STAGE_NAMES, RunPaths, shard_done_path, shard_path
from ragmend.run_lock import FileLock

pytestmark = pytest.mark.slow  # runs of their own, from the beginning

FOLDERS = {
    "detect": "01-detections", "select": "02-population", "split": "03-claims",
    "match": "04-evidence", "verify": "05-verdicts", "propose": "06-candidates",
    "assemble": "07-arms", "judge": "08-judgements",
}  # fmt: skip
RECORDED = tuple(FOLDERS)
SOME_INPUTS = {"provenance", "table6_tasks", "claims_of_the_text"}
"""Tables with a row or a column for each input, so that they grow with what is there."""
NEW_TABLES = {
    "detect": (),
    "select": ("selection", "detector_scores"),
    "split": (),
    "match": (),
    "verify": ("claims_by_kind", "table2_verifier", "verifier_by_task"),
    "propose": ("gate_reasons",),
    "assemble": (
        "acceptance", "table3_arms", "table4_examples", "table7_clean_and_hallucinatory",
        "wellformedness", "assembly_edits", "repair_against_gold", "answers_against_gold",
    ),
}  # fmt: skip


def cut(run, stage):
    """Take a stage back with all after it, as if they had never been begun."""
    for later in RECORDED[RECORDED.index(stage) :]:
        shutil.rmtree(run / FOLDERS[later])
    take_results(run)


def take_results(run):
    for name in ("09-analysis", "tables", "figures"):
        shutil.rmtree(run / name)
    for name in ("report.md", "report.html"):
        (run / name).unlink()


def tables_in(folder):
    return {path.stem: path.read_bytes() for path in sorted((folder / "tables").glob("*.csv"))}


def missing_in(done):
    """Return the line on each missing part that a command printed, by the part's name."""
    lines = [line for line in done.stderr.splitlines() if line.startswith("  ")]
    return {line.split(":")[0].strip(): line.strip() for line in lines}


def swap(monkeypatch, name, error):
    """Let a table's function raise an error."""

    def refuse(study):
        raise error

    monkeypatch.setitem(recipes.TABLES, name, recipes.TABLES[name]._replace(make=refuse))


@pytest.mark.parametrize("stage", RECORDED)
def test_of_a_run_that_ends_before_a_stage_there_is_what_the_ones_before_it_give(
    run, finished, command, files_of, stage
):
    cut(run, stage)
    before = files_of(run)
    done = command("report", run, "--partial")
    expected = {t for s in RECORDED[: RECORDED.index(stage)] for t in NEW_TABLES[s]}
    assert done.returncode == (0 if expected else 1), done.stderr
    assert tuple(missing_in(done)) == RECORDED[RECORDED.index(stage) :]
    assert missing_in(done)[stage].startswith(f"{stage}: missing: nothing is recorded. `ragmend")
    assert done.stderr.splitlines()[0].startswith(f"INCOMPLETE: {stage}")
    assert done.stdout == f"report   {run}/partial/report.html\n"
    found = tables_in(run / "partial")
    assert set(found) - SOME_INPUTS == expected
    whole = tables_in(finished)
    assert {name for name in found if found[name] != whole[name]} <= SOME_INPUTS
    files = files_of(run)
    assert {name: files[name] for name in before} == before
    assert {name.partition("/")[0] for name in files.keys() - before.keys()} == {"partial"}
    assert not [name for name in files if name.startswith("partial/") and "manifest" in name]


def test_every_table_and_figure_says_that_it_is_of_an_incomplete_run(run, finished, command):
    cut(run, "assemble")
    assert command("report", run, "--partial").returncode == 0
    note = "of an incomplete run: assemble, judge are missing"
    paths = sorted((run / "partial/tables").glob("*.md"))
    for path in paths:
        text, whole = path.read_text(), (finished / "tables" / path.name).read_text()
        assert text.endswith(f"- {note}\n"), path.name
        if path.stem not in SOME_INPUTS:
            assert text == f"{whole}- {note}\n"
        assert note in path.with_suffix(".tex").read_text()
    assert len(paths) == 7
    text = (run / "partial/report.md").read_text()
    figures = re.findall(r"figures/(\w+)\.svg", text)
    assert set(figures) == {"verifier_roc", "support_by_task", "flow"}
    assert text.count(f"({note})*") == len(figures)
    html = (run / "partial/report.html").read_text()
    assert html.count(note) == 6 + len(figures)  # provenance stands in its file alone
    assert all((run / f"partial/figures/{name}.svg").is_file() for name in figures)


@pytest.mark.parametrize("stage", ["select", "verify", "judge"])
def test_no_cell_and_no_sentence_says_nan(run, command, stage):
    cut(run, stage)
    command("report", run, "--partial")
    files = [p for p in (run / "partial").rglob("*") if p.suffix in {".csv", ".md", ".tex"}]
    html = re.sub(r"<svg.*?</svg>", "", (run / "partial/report.html").read_text(), flags=re.DOTALL)
    for text in (html, *(path.read_text() for path in files)):
        assert re.search(r"\bnan\b", text, re.IGNORECASE) is None
    assert "None" not in {line.strip() for line in html.splitlines()}


def test_the_head_says_what_is_missing_and_what_the_cluster_says(run):
    cut(run, "judge")
    lines = ("judge-overlap_3: TIMEOUT <twice>", "see jobs/logs")
    made = report_what_exists(reopen_experiment(run), job_lines=lines)
    assert [missing.name for missing in made.missing] == ["judge"]
    html = (run / "partial/report.html").read_text()
    head = html[html.index("<h1>") : html.index("<h2>")]
    assert head.index("INCOMPLETE") < head.index("judge: missing") < head.index("lexical")
    assert "<li>judge-overlap_3: TIMEOUT &lt;twice&gt;</li>" in head
    assert "<li>see jobs/logs</li>" in head
    text = (run / "partial/report.md").read_text()
    assert text.index("**INCOMPLETE**") < text.index("> - see jobs/logs") < text.index("**Note:**")


def test_a_table_that_waits_names_the_stage_that_it_waits_for(run, command):
    cut(run, "propose")
    command("report", run, "--partial")
    left_out = (run / "partial/report.md").read_text().partition("## Left out")[2]
    assert "- contrasts: needs labels, of the stage judge\n" in left_out
    assert "- gate\\_reasons: needs candidates, of the stage propose\n" in left_out
    assert "rewrite\\_proposed, of the stage propose\n" in left_out


def test_a_complete_run_gets_its_report_and_loses_that_of_what_existed(
    run, finished, command, files_of
):
    (run / "partial").mkdir()
    (run / "partial/report.md").write_text("INCOMPLETE")
    done = command("report", run, "--partial")
    assert (done.returncode, done.stdout) == (0, f"report   {run}/report.html\n")
    assert "INCOMPLETE" not in done.stderr
    assert files_of(run) == files_of(finished)


def test_where_only_results_are_missing_they_are_made(run, finished, command, files_of):
    take_results(run)
    done = command("report", run, "--partial")
    assert (done.returncode, done.stdout) == (0, f"report   {run}/report.html\n")
    assert files_of(run) == files_of(finished)


def test_a_run_goes_on_behind_a_report_of_what_existed_as_if_it_had_not_been(
    run, finished, command, files_of
):
    cut(run, "propose")
    assert command("report", run, "--partial").returncode == 0
    assert command("status", run).returncode == 0
    assert command("unlock", run).returncode == 0
    done = command("run", "demo", "--out", run, "--only", "propose")
    assert done.returncode == 0, done.stderr
    assert (run / "partial").is_dir()
    done = command("run", "demo", "--out", run)
    assert done.returncode == 0, done.stderr
    assert files_of(run) == files_of(finished)


def test_a_second_report_leaves_nothing_of_the_first(run, command):
    cut(run, "judge")
    command("report", run, "--partial")
    (run / "partial/mine.txt").write_text("x")
    cut_further = ("05-verdicts", "06-candidates", "07-arms")
    for name in cut_further:
        shutil.rmtree(run / name)
    assert command("report", run, "--partial").returncode == 0
    assert set(tables_in(run / "partial")) == {"selection", "detector_scores", "provenance"}
    assert not (run / "partial/mine.txt").exists()


def test_a_half_written_manifest_is_named_and_what_stands_on_it_is_not_used(run, command):
    manifest = run / "05-verdicts/manifest.json"
    manifest.write_bytes(manifest.read_bytes()[:100])
    done = command("report", run, "--partial")
    assert done.returncode == 0
    missing = missing_in(done)
    assert tuple(missing) == ("verify", "propose", "assemble", "judge")
    assert missing["verify"].startswith("verify: damaged: cannot be read: ")
    assert "05-verdicts/manifest.json" in missing["verify"]
    assert "--redo verify" in missing["verify"]
    assert missing["judge"] == ("judge: complete, but not used: verify, before it, is not complete")
    assert set(tables_in(run / "partial")) == {"selection", "detector_scores", "provenance"}


def test_a_changed_record_file_is_named(run, command):
    (run / "07-arms/actions.jsonl").write_bytes(b"{}\n")
    done = command("report", run, "--partial")
    missing = missing_in(done)
    assert tuple(missing) == ("assemble", "judge")
    assert "07-arms/actions.jsonl is missing or was changed" in missing["assemble"]
    assert "gate_reasons" in tables_in(run / "partial")


def test_another_configuration_makes_stages_stale_and_they_are_not_used(run, command):
    config = run / "config.toml"
    text, n = re.subn(r"threshold = 0\.5\b", "threshold = 0.6", config.read_text())
    assert n == 1
    config.write_text(text)
    done = command("report", run, "--partial")
    missing = missing_in(done)
    assert tuple(missing) == ("propose", "assemble", "judge")
    assert missing["propose"].startswith("propose: stale: verifier.threshold was 0.5, is 0.6")
    assert "--redo propose" in missing["propose"]


def test_records_that_do_not_go_together_leave_out_their_stage_alone(run, command):
    cut(run, "propose")
    verdicts = run / "05-verdicts/verdicts.jsonl"
    verdicts.write_bytes(verdicts.read_bytes().partition(b"\n")[2])
    manifest = run / "05-verdicts/manifest.json"
    told = json.loads(manifest.read_text())
    paths = RunPaths(run)
    told["outputs"] = {name: sha256_of_file(paths.root / name) for name in told["outputs"]}
    manifest.write_text(json.dumps(told))
    done = command("report", run, "--partial")
    assert done.returncode == 0
    line = missing_in(done)["verify"]
    assert line.startswith("verify: complete, but not used: verdict of claim ")
    assert set(tables_in(run / "partial")) == {"selection", "detector_scores", "provenance"}


def test_judgements_that_are_only_partly_there_are_counted_and_not_used(run, command):
    cut(run, "judge")
    folder = run / FOLDERS["judge"]
    parts = parts_of_stage(reopen_experiment(run).context.config, "judge", 2)
    fix_plan(folder, 2)
    for part in parts[:-1]:
        shard_path(folder, part.number).write_text('{"torn": 1}\n{"torn": 2}\n')
        shard_done_path(folder, part.number).write_text("{}\n")
    shard_path(folder, parts[-1].number).write_text('{"torn": 1}\n')
    done = command("report", run, "--partial")
    assert missing_in(done) == {
        "judge": "judge: partial: 5 of 6 shards done, 11 units recorded, none of it used. "
        "`ragmend run …` goes on"
    }
    assert "table5_judged" not in tables_in(run / "partial")
    shown = command("status", run).stdout
    assert "judge     partial   5 of 6 shards done, 11 units recorded\n" in shown
    assert len(list((folder / "shards").iterdir())) == 12


def test_faulty_answers_of_a_stage_that_ended_are_pointed_at(run, command):
    cut(run, "judge")
    (run / FOLDERS["judge"]).mkdir()
    (run / FOLDERS["judge"] / "faults.jsonl").write_text(
        '{"stage":"judge","record_id":"1","status":"empty","message":"m","raw":null}\n'
    )
    done = command("report", run, "--partial")
    line = missing_in(done)["judge"]
    assert "08-judgements/faults.jsonl" in line
    assert "--accept-faults" in line
    assert "table3_arms" in tables_in(run / "partial")


def test_a_fault_in_one_table_leaves_out_that_table_with_the_message(run, command, monkeypatch):
    cut(run, "judge")
    swap(monkeypatch, "table3_arms", StatisticsError("an arm of straw"))
    assert command("report", run, "--partial").returncode == 0
    found = tables_in(run / "partial")
    assert "table3_arms" not in found
    assert {"table7_clean_and_hallucinatory", "gate_reasons"} <= set(found)
    text = (run / "partial/report.md").read_text()
    assert "- table3\\_arms: cannot be made: an arm of straw" in text


def test_an_analysis_that_fails_leaves_all_that_can_be_made(run, command, monkeypatch):
    take_results(run)
    swap(monkeypatch, "contrasts", StatisticsError("no two alike"))
    done = command("report", run, "--partial")
    assert done.returncode == 0
    assert missing_in(done) == {"analyze": "analyze: cannot be made: no two alike"}
    found = tables_in(run / "partial")
    assert "contrasts" not in found
    assert {"table5_judged", "agreement"} <= set(found)
    assert not (run / "tables").exists()


def test_an_error_that_is_none_of_ours_is_not_taken_for_a_fault_of_a_table(run, monkeypatch):
    cut(run, "judge")
    swap(monkeypatch, "table3_arms", ZeroDivisionError("a bug"))
    with pytest.raises(ZeroDivisionError):
        report_what_exists(reopen_experiment(run))


@pytest.mark.parametrize("stage", ["analyze", "report"])
def test_results_that_were_changed_are_named_and_made_again_beside(run, finished, command, stage):
    changed = run / ("tables/selection.csv" if stage == "analyze" else "report.md")
    changed.write_text("mine")
    done = command("report", run, "--partial")
    assert done.returncode == 0
    assert list(missing_in(done)) == [stage]
    assert f"--redo {stage}" in missing_in(done)[stage]
    assert changed.read_text() == "mine"
    found, whole = tables_in(run / "partial"), tables_in(finished)
    assert {name for name in whole if found[name] != whole[name]} == {"provenance"}
    if stage == "report":
        assert command("report", run, "--partial", "--redo").returncode == 0
        assert not (run / "partial").exists()


def test_two_do_not_report_at_once(run, command, files_of):
    cut(run, "judge")
    before = files_of(run)
    with FileLock(RunPaths(run).partial_lock):
        done = command("report", run, "--partial")
    assert done.returncode == 1
    assert "is at work here" in done.stderr
    assert f"ragmend unlock {run}" in done.stderr or "wait until it has ended" in done.stderr
    assert files_of(run) == before


def test_a_report_of_what_exists_is_in_nobodys_way(run, command):
    cut(run, "judge")
    with run_lock(reopen_experiment(run).context.paths):  # a job is at work
        assert command("report", run, "--partial").returncode == 0


def test_a_link_in_the_place_of_the_folder_is_replaced_and_not_followed(run, command, tmp_path):
    cut(run, "judge")
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("x")
    (run / "partial").symlink_to(mine)
    assert command("report", run, "--partial").returncode == 0
    assert [path.name for path in mine.iterdir()] == ["thesis.txt"]
    assert not (run / "partial").is_symlink()


def test_without_the_data_it_is_said_why_nothing_is_used(run, command):
    text = (run / "config.toml").read_text()
    assert 'kind = "demo"' in text
    text = text.replace('kind = "demo"', 'kind = "ragtruth"\npath = "/nowhere"', 1)
    (run / "config.toml").write_text(text)
    done = command("report", run, "--partial")
    assert done.returncode == 1
    assert "/nowhere" in missing_in(done)["detect"]
    assert (run / "partial/report.html").is_file()


def test_stages_are_all_that_a_run_has():
    assert (*RECORDED, "analyze", "report") == STAGE_NAMES
