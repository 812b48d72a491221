"""A run folder: what it holds, and what happens when it is run again."""

import json

import pytest

from ragmend.io import read_records, sha256_of_file
from ragmend.records import ARMS, CONDITIONS, Action, Claim, Judgement, RepairedAnswer, Verdict

FILES = """
01-detections/lexical/detections.jsonl 01-detections/lexical/manifest.json
02-population/population.jsonl 02-population/manifest.json
03-claims/claims.jsonl 03-claims/manifest.json
04-evidence/evidence.jsonl 04-evidence/manifest.json
05-verdicts/verdicts.jsonl 05-verdicts/manifest.json
06-candidates/candidates.jsonl 06-candidates/manifest.json
07-arms/actions.jsonl 07-arms/answers.jsonl 07-arms/manifest.json
08-judgements/judgements.jsonl 08-judgements/manifest.json
09-analysis/manifest.json config.toml protocol.lock.json report.md report.html
tables/selection.csv tables/selection.md tables/table3_arms.csv tables/table3_arms.md
tables/table5_judged.csv tables/table5_judged.md tables/contrasts.csv tables/contrasts.md
tables/acceptance.csv tables/acceptance.md tables/detector_scores.csv
figures/judged_rates.svg
""".split()
"""The interface that tools and people rely on."""


def lines_of(path):
    return path.read_text("utf-8").rstrip("\n").split("\n")


def counts(run, stage_folder):
    return json.loads((run / stage_folder / "manifest.json").read_text())["counts"]


def test_a_run_holds_the_files_that_people_rely_on(finished):
    assert [name for name in FILES if not (finished / name).is_file()] == []


def test_nothing_of_a_stage_in_progress_is_left(finished):
    left = [p.name for p in finished.rglob("*") if p.name == "shards" or p.suffix == ".partial"]
    assert left == []


def test_every_claim_has_one_verdict_and_one_action_an_arm(finished):
    claims = [c.claim_id for c in read_records(finished / "03-claims/claims.jsonl", Claim)]
    verdicts = [v.claim_id for v in read_records(finished / "05-verdicts/verdicts.jsonl", Verdict)]
    actions = list(read_records(finished / "07-arms/actions.jsonl", Action))
    assert claims
    assert verdicts == claims
    assert sorted((a.claim_id, a.arm) for a in actions) == sorted(
        (claim, arm) for claim in claims for arm in ARMS
    )


def test_every_answer_is_judged_by_every_judge_in_every_condition(finished):
    answers = list(read_records(finished / "07-arms/answers.jsonl", RepairedAnswer))
    judgements = list(read_records(finished / "08-judgements/judgements.jsonl", Judgement))
    records = {a.record_id for a in answers}
    assert len(answers) == len(records) * len(CONDITIONS)
    cells = {(j.record_id, j.condition, j.judge) for j in judgements}
    assert len(cells) == len(judgements) == len(answers) * 3


def test_manifests_say_what_was_read_written_and_with_what(finished):
    manifest = json.loads((finished / "05-verdicts/manifest.json").read_text())
    claims = "03-claims/claims.jsonl"
    assert manifest["inputs"][claims] == sha256_of_file(finished / claims)
    verdicts = "05-verdicts/verdicts.jsonl"
    assert manifest["outputs"] == {verdicts: sha256_of_file(finished / verdicts)}
    assert manifest["models"] == {"verifier": "lexical (no language model)"}
    assert "scikit-learn" in manifest["packages"]
    assembly = counts(finished, "07-arms")
    eligible = counts(finished, "06-candidates")["eligible"]
    n_claims = len(list(read_records(finished / claims, Claim)))
    rewritten = counts(finished, "06-candidates")["rewrite_accepted"]
    # A verdict a claim and arm; of eligible ones the extract, and the rewrite before it.
    assert assembly["lookups"] == 3 * n_claims + 3 * eligible - rewritten
    assert assembly["misses"] == 0


def test_tables_of_the_embedded_backend_say_so(finished):
    for table in (finished / "tables").glob("*.md"):
        assert "lexical (no language model)" in table.read_text(), table.name
    for name in ("table5_judged", "contrasts"):
        text = (finished / "tables" / f"{name}.md").read_text()
        assert "a lower rate here does not show a better answer" in text


def test_the_lock_holds_the_protocol(finished):
    lock = json.loads((finished / "protocol.lock.json").read_text())
    protocol = lock["protocol"]
    population = sha256_of_file(finished / "02-population/population.jsonl")
    assert protocol["population"]["sha256"] == population
    assert protocol["threshold"] == 0.5
    assert protocol["verify_edit"] == "claim"
    assert protocol["primary_judge"] == "overlap"
    assert protocol["arms"]["generative"] == ["keep", "rewrite", "extract", "drop"]
    assert "removal-generative" in protocol["contrasts"]["exploratory"]
    assert protocol["population"]["run"] == "lexical"
    assert lock["judged"]
    assert lock["amendments"] == []


def test_a_complete_run_is_skipped_and_unchanged(run, finished, ragmend, files_of):
    done = ragmend("run", "demo", "--out", run)
    assert done.returncode == 0
    assert done.stderr.count("complete, skipped") == 10
    assert files_of(run) == files_of(finished)


def test_two_runs_are_byte_identical(finished, tmp_path, ragmend, files_of):
    assert ragmend("run", "demo", "--out", tmp_path / "again").returncode == 0
    assert files_of(tmp_path / "again") == files_of(finished)


@pytest.mark.parametrize(
    ("override", "stage", "words"),
    [
        ("evidence.top_k=2", "match", "evidence.top_k was 3, is 2"),
        ("verifier.threshold=0.6", "propose", "verifier.threshold was 0.5, is 0.6"),
        ("analysis.seed=1", "analyze", "analysis.seed was 42, is 1"),
        ('data.tasks=["QA"]', "detect", "data.tasks was"),
        ("population.limit=3", "select", "population.limit was None, is 3"),
    ],
)
def test_a_changed_setting_names_the_stale_stage_and_stops(run, ragmend, override, stage, words):
    done = ragmend("run", "demo", "--out", run, "--set", override)
    assert done.returncode == 1
    assert f"stage {stage} is stale: {words}" in done.stderr
    assert f"--redo {stage}" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_refused_change_leaves_the_run_as_it_was(run, finished, ragmend, files_of):
    ragmend("run", "demo", "--out", run, "--set", "verifier.threshold=0.6")
    assert files_of(run) == files_of(finished)


@pytest.mark.slow
def test_redo_takes_the_change_over_and_the_lock_records_it(run, ragmend):
    override = ("--set", "verifier.threshold=0.9")
    done = ragmend("run", "demo", "--out", run, *override, "--redo", "propose")
    assert done.returncode == 0, done.stderr
    assert "verify    complete, skipped" in done.stderr
    lock = json.loads((run / "protocol.lock.json").read_text())
    assert lock["protocol"]["threshold"] == 0.9
    (amendment,) = lock["amendments"]
    assert (amendment["entry"], amendment["was"], amendment["now"]) == ("threshold", 0.5, 0.9)
    assert amendment["after_judging"]
    assert "the protocol was amended after judging: threshold" in (run / "report.md").read_text()
    again = ragmend("run", "demo", "--out", run, *override)
    assert again.stderr.count("complete, skipped") == 10


@pytest.mark.slow
def test_drawing_the_population_anew_keeps_the_trail_of_the_protocol(run, ragmend):
    override = ("--set", "verifier.threshold=0.9")
    done = ragmend("run", "demo", "--out", run, *override, "--redo", "select")
    assert done.returncode == 0, done.stderr
    (amendment,) = json.loads((run / "protocol.lock.json").read_text())["amendments"]
    assert (amendment["entry"], amendment["after_judging"]) == ("threshold", True)


def test_once_judged_a_later_change_is_known_to_come_after_judging(run, ragmend):
    for value in ("0.6", "0.7"):
        words = ("--set", f"verifier.threshold={value}", "--redo", "propose", "--only", "propose")
        assert ragmend("run", "demo", "--out", run, *words).returncode == 0
    amendments = json.loads((run / "protocol.lock.json").read_text())["amendments"]
    assert [a["after_judging"] for a in amendments] == [True, True]


@pytest.mark.parametrize(
    "words",
    [
        ("--redo", "judge", "--only", "detect"),
        ("--redo", "select", "--only", "verify"),
        ("--redo", "report", "--set", "verifier.threshold=0.9"),
    ],
)
def test_a_refused_redo_discards_nothing(run, finished, ragmend, files_of, words):
    done = ragmend("run", "demo", "--out", run, *words)
    assert done.returncode == 1
    assert files_of(run) == files_of(finished)


def test_redo_of_a_later_stage_discards_nothing_while_an_earlier_one_is_missing(run, ragmend):
    (run / "08-judgements/manifest.json").unlink()
    done = ragmend("analyze", run, "--redo")
    assert done.returncode == 1
    assert "stage judge is not complete" in done.stderr
    assert (run / "tables/contrasts.csv").is_file()


@pytest.mark.parametrize("content", [None, "no JSON"])
def test_a_lock_that_is_gone_or_damaged_is_named_at_the_stage_that_writes_it(run, ragmend, content):
    lock = run / "protocol.lock.json"
    lock.unlink() if content is None else lock.write_text(content)
    done = ragmend("run", "demo", "--out", run)
    assert done.returncode == 1
    assert "stage select is damaged: protocol.lock.json is missing or cannot" in done.stderr


def test_a_changed_protocol_is_refused_before_the_configuration_is_written(tmp_path, ragmend):
    run = tmp_path / "run"
    for stage in ("detect", "select"):
        assert ragmend("run", "demo", "--out", run, "--only", stage).returncode == 0
    before = (run / "config.toml").read_bytes()
    done = ragmend("run", "demo", "--out", run, "--set", "verifier.threshold=0.9")
    assert done.returncode == 1
    assert "the protocol is locked and threshold is no longer" in done.stderr
    assert (run / "config.toml").read_bytes() == before


def test_the_protocol_cannot_be_changed_by_redoing_a_later_stage(run, ragmend):
    override = ("--set", "verifier.threshold=0.9")
    done = ragmend("run", "demo", "--out", run, *override, "--redo", "judge")
    assert done.returncode == 1
    assert "threshold" in done.stderr
    assert "--redo propose" in done.stderr


def test_a_damaged_output_is_named(run, ragmend):
    claims = run / "03-claims/claims.jsonl"
    claims.write_bytes(claims.read_bytes().replace(b"heading", b"statement"))
    done = ragmend("run", "demo", "--out", run)
    assert done.returncode == 1
    assert "stage split is damaged: 03-claims/claims.jsonl is missing or was changed" in done.stderr


def test_only_runs_one_stage_and_refuses_without_those_before(tmp_path, ragmend):
    out = tmp_path / "run"
    assert ragmend("run", "demo", "--out", out, "--only", "detect").returncode == 0
    assert not (out / "02-population").exists()
    done = ragmend("run", "demo", "--out", out, "--only", "match")
    assert done.returncode == 1
    assert "stage select is not complete; match needs it" in done.stderr


@pytest.mark.slow
def test_the_stages_one_by_one_make_the_same_run(finished, tmp_path, ragmend, files_of):
    out = tmp_path / "run"
    for words in (("detect", "predict", "demo"), ("repair", "demo"), ("judge", "demo")):
        done = ragmend(*words, "--out", out)
        assert done.returncode == 0, done.stderr
    assert ragmend("analyze", out).returncode == 0
    assert ragmend("report", out).returncode == 0
    assert files_of(out) == files_of(finished)


def test_unflagged_answers_pass_through_every_condition_marked(run, ragmend):
    done = ragmend("run", "demo", "--out", run, "--export-all")
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in lines_of(run / "07-arms/all_answers.jsonl")]
    assert len(rows) == 48 * 4
    unflagged = [row for row in rows if not row["flagged"]]
    assert {row["record_id"] for row in unflagged}
    texts = {}
    for row in unflagged:
        texts.setdefault(row["record_id"], set()).add(row["text"])
    assert all(len(versions) == 1 for versions in texts.values())


@pytest.mark.slow
def test_an_export_marks_by_the_detector_and_leaves_flagged_answers_without_repair_out(
    finished, tmp_path, ragmend
):
    out = tmp_path / "run"
    done = ragmend("run", "demo", "--out", out, "--limit", "2", "--export-all")
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in lines_of(out / "07-arms/all_answers.jsonl")]
    n_flagged = counts(finished, "02-population")["flagged"]
    assert len({row["record_id"] for row in rows if row["flagged"]}) == 2
    assert len({row["record_id"] for row in rows if not row["flagged"]}) == 48 - n_flagged
    assert f"{n_flagged - 2} flagged answers without repair left out" in done.stderr


@pytest.mark.slow
def test_an_export_goes_with_the_answers_that_it_was_made_from(run, ragmend):
    assert ragmend("run", "demo", "--out", run, "--export-all").returncode == 0
    words = ("--set", "verifier.threshold=0.9", "--redo", "propose")
    assert ragmend("run", "demo", "--out", run, *words).returncode == 0
    assert not (run / "07-arms/all_answers.jsonl").exists()


def test_an_export_without_repaired_answers_is_refused(tmp_path, ragmend):
    done = ragmend("run", "demo", "--out", tmp_path / "run", "--only", "detect", "--export-all")
    assert done.returncode == 1
    assert "--export-all needs the stage assemble" in done.stderr
    assert not (tmp_path / "run/07-arms").exists()


def test_a_limit_shortens_the_population_and_is_said(tmp_path, ragmend):
    done = ragmend("run", "demo", "--out", tmp_path / "run", "--limit", "2")
    assert done.returncode == 0, done.stderr
    assert counts(tmp_path / "run", "02-population")["population"] == 2
    assert "limited to the first 2 flagged answers" in (tmp_path / "run/report.md").read_text()
