"""A fault is never a decision: it stops, or is accepted with a reason and counted."""

import json

import pytest

from ragmend.cli.experiment import open_experiment
from ragmend.cli.roles import parts
from ragmend.cli.stages import detect
from ragmend.datasets.ragtruth import demo_folder
from ragmend.detector.predictions import import_predictions
from ragmend.errors import AnswerFaultError, FaultError, RunStateError
from ragmend.io import read_records
from ragmend.records import Fault, Judgement, RepairedAnswer
from ragmend.repair.lexical.verifier import LexicalVerifier


def lines_of(path):
    return path.read_text("utf-8").rstrip("\n").split("\n")


class Flaky(LexicalVerifier):
    """The embedded verifier, except that some claims get no usable answer."""

    broken: frozenset[str] = frozenset()

    def verify(self, source, claims, evidence):
        if claims and claims[0].record_id in self.broken:
            message = f"claim {claims[0].claim_id}: P(support) is nan"
            raise AnswerFaultError(
                message, status="non_finite", claim_id=claims[0].claim_id, raw="nan"
            )
        return super().verify(source, claims, evidence)


@pytest.fixture
def broken(monkeypatch):
    """Break the verifier for the records named in the returned function's call."""

    def set_broken(*record_ids):
        Flaky.broken = frozenset(record_ids)
        monkeypatch.setattr(parts, "LexicalVerifier", Flaky)

    return set_broken


@pytest.fixture
def some_ids(all_ids):
    return all_ids[:2]


@pytest.fixture
def all_ids(finished):
    rows = [json.loads(line) for line in lines_of(finished / "02-population/population.jsonl")]
    return [row["record_id"] for row in rows]


def test_a_fault_stops_the_run_and_is_written_beside_the_decisions(tmp_path, broken, some_ids):
    broken(*some_ids)
    with pytest.raises(FaultError, match=f"2 faulty answers.*{some_ids[0]}"):
        open_experiment("demo", tmp_path / "run").run()
    folder = tmp_path / "run" / "05-verdicts"
    faults = list(read_records(folder / "faults.jsonl", Fault))
    assert [fault.record_id for fault in faults] == some_ids
    assert {(fault.status, fault.raw) for fault in faults} == {("non_finite", "nan")}
    assert sorted(f.name for f in folder.iterdir()) == ["faults.jsonl", "shards"]
    assert not (tmp_path / "run" / "06-candidates").exists()


@pytest.mark.slow
def test_a_resumed_run_asks_only_for_what_is_missing_and_ends_the_same(
    tmp_path, broken, all_ids, finished, files_of, capsys
):
    broken(*all_ids[:2])
    with pytest.raises(FaultError):
        open_experiment("demo", tmp_path / "run").run()
    broken()
    open_experiment("demo", tmp_path / "run").run()
    n_units = len(all_ids)
    assert f"resuming: {n_units - 2} units are recorded" in capsys.readouterr().err
    assert files_of(tmp_path / "run") == files_of(finished)


def test_an_accepted_fault_takes_its_whole_record_out_and_is_counted(
    tmp_path, broken, some_ids, all_ids
):
    broken(*some_ids)
    run = tmp_path / "run"
    open_experiment("demo", run, accept_faults="two answers cannot be scored").run()
    manifest = json.loads((run / "05-verdicts/manifest.json").read_text())
    assert (manifest["n_faults"], manifest["accepted_faults"]) == (
        2,
        "two answers cannot be scored",
    )
    for path, model in (
        ("07-arms/answers.jsonl", RepairedAnswer),
        ("08-judgements/judgements.jsonl", Judgement),
    ):
        present = {record.record_id for record in read_records(run / path, model)}
        assert present
        assert not present.intersection(some_ids)
    n_units = len(all_ids)
    assert rf"verify non\_finite 2 of {n_units}" in (run / "tables/contrasts.md").read_text()
    assert "2 records were left out for accepted faults" in (run / "report.md").read_text()


def test_faults_of_every_record_leave_nothing_to_repair(tmp_path, broken, all_ids):
    broken(*all_ids)
    with pytest.raises(FaultError, match="no record is left"):
        open_experiment("demo", tmp_path / "run", accept_faults="all broken").run()


def test_an_input_that_changes_while_a_stage_runs_is_not_hashed_as_what_was_read(
    tmp_path, monkeypatch
):
    predictions = tmp_path / "p.csv"
    rows = [json.loads(line)["id"] for line in lines_of(demo_folder() / "response.jsonl")]
    predictions.write_text("id,verdict\n" + "".join(f"{i},1\n" for i in rows))

    def import_and_change(*args, **kwargs):
        imported = import_predictions(*args, **kwargs)
        predictions.write_text(predictions.read_text().replace(",1", ",0"))
        return imported

    monkeypatch.setattr(detect, "import_predictions", import_and_change)
    overrides = ["detector.kind=predictions", f"detector.predictions={predictions}"]
    with pytest.raises(RunStateError, match="detect: an input changed while it ran"):
        open_experiment("demo", tmp_path / "run", overrides).run()
    assert not list((tmp_path / "run").rglob("manifest.json"))
