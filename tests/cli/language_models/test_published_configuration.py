"""The published configuration runs as it is, pointed at servers of its models."""

from contextlib import ExitStack

from fault_server import FaultServer, Traits

from ragmend.cli.experiment import load_experiment_config, open_experiment
from ragmend.manifest import read_manifest


def test_the_published_configuration_runs_as_it_is_against_servers_of_its_models(
    real_data, tmp_path, monkeypatch
):
    predictions = real_data / "ragtruth_predictions/test_span_predictions.jsonl.gz"
    monkeypatch.setenv("RAGMEND_DATA", str(real_data))
    # A detector's recorded verdicts stand for the trained one, which wants a GPU.
    here = [
        "detector.kind=predictions",
        f"detector.predictions={predictions}",
        "detector.system=hg_token_modernbert_large",
        "population.run=",
        "population.limit=2",
    ]
    with ExitStack() as stack:
        for name, role in load_experiment_config("paper").roles().items():
            traits = Traits(model=role.language_model.id, max_model_len=8192)
            server = stack.enter_context(FaultServer(traits=traits))
            here.append(f"servers.{name}={server.url}")
        open_experiment("paper", tmp_path / "run", here).run()
    judged = read_manifest(tmp_path / "run/08-judgements/manifest.json")
    assert judged.counts["judgements"] == 2 * 4 * 3
    assert {name: facts["served_as"] for name, facts in judged.servers.items()} == {
        "qwen": "Qwen/Qwen2.5-32B-Instruct",
        "llama": "meta-llama/Llama-3.1-70B-Instruct",
        "gemma": "google/gemma-2-27b-it",
    }
    report = (tmp_path / "run/report.md").read_text("utf-8")
    assert "Qwen/Qwen2.5-32B-Instruct-AWQ, awq, two-token" in report
    assert "qwen †" in report  # a judge of the verifier's family is marked
