"""What a run of language models says of itself under every table."""

import pytest

from ragmend.cli.experiment import reopen_experiment
from ragmend.cli.provenance import provenance_of
from ragmend.cli.recorded import everything
from ragmend.config import validate_config
from ragmend.io import read_records, write_records
from ragmend.records import Judgement, Rewrite, Verdict

QWEN = {"backend": "openai", "model": {"id": "Qwen/Qwen2.5-32B-Instruct-AWQ"}}
SMALL_QWEN = {"backend": "openai", "model": {"id": "Qwen/Qwen2.5-7B-Instruct"}}
LLAMA = {"backend": "openai", "model": {"id": "meta-llama/Llama-3.1-70B-Instruct"}}


@pytest.fixture
def context(run):
    """The demonstration run's context; its folder is a copy."""
    return reopen_experiment(run).context


def told(context, **roles):
    """Return what the run would say of itself with other parts in some roles."""
    raw = context.config.model_dump(mode="json", exclude_none=True)
    raw["verifier"] |= roles.get("verifier", {})
    raw["rewriter"] |= roles.get("rewriter", {})
    for judge in raw["judges"]["panel"]:
        judge |= roles.get(judge["name"].replace("-", "_"), {})
    context = context._replace(config=validate_config(raw, "here"))
    return provenance_of(context, everything(context))


def change(path, model, *, first: int, **changes):
    """Change the first records of a file; return all of them as they are then."""
    records = list(read_records(path, model))
    records = [record.model_copy(update=changes) for record in records[:first]] + records[first:]
    write_records(path, records)
    return records


def test_an_embedded_run_says_nothing_of_language_models(context):
    change(context.paths.verdicts, Verdict, first=3, p_support=0.5)
    found = told(context)
    assert (found.embedded_verifier, found.embedded_judges) == (True, True)
    assert (found.heuristic_judges, found.verifier_family_judges) == ((), ())
    assert not any("lie within" in remark or "shortened" in remark for remark in found.remarks)


def test_a_language_model_is_named_with_its_weights_and_how_it_is_read(context):
    found = told(context, verifier=QWEN)
    assert not found.embedded_verifier
    assert found.verifier_name == "Qwen/Qwen2.5-32B-Instruct-AWQ, two-token"
    model = QWEN["model"] | {"quantization": "awq"}
    found = told(context, verifier={**QWEN, "model": model, "scoring": "all-forms"})
    assert found.verifier_name == "Qwen/Qwen2.5-32B-Instruct-AWQ, awq, all-forms"
    assert not any("fitted on" in remark for remark in found.remarks)


def test_of_a_mixed_panel_the_heuristics_and_the_verifiers_family_are_named(context):
    found = told(context, verifier=QWEN, overlap=LLAMA, numbers_names=SMALL_QWEN)
    assert not found.embedded_judges
    assert found.heuristic_judges == ("sentence-support",)
    assert found.verifier_family_judges == ("numbers-names",)
    assert told(context, numbers_names=SMALL_QWEN).verifier_family_judges == ()


def test_a_panel_of_language_models_has_no_heuristic(context):
    panel = {"overlap": LLAMA, "numbers_names": SMALL_QWEN, "sentence_support": QWEN}
    found = told(context, **panel)
    assert (found.embedded_judges, found.heuristic_judges) == (False, ())
    assert found.embedded_verifier


def test_verdicts_near_the_threshold_are_counted(context):
    verdicts = change(context.paths.verdicts, Verdict, first=3, p_support=0.505)
    near = sum(abs(verdict.p_support - 0.5) <= 0.01 for verdict in verdicts)
    assert near >= 3
    (remark,) = (r for r in told(context, verifier=QWEN).remarks if "lie within" in r)
    assert remark == (
        f"{near} of {len(verdicts)} verdicts lie within 0.01 of the threshold of 0.5: they may "
        "come out otherwise when run again"
    )
    none = told(context, verifier={**QWEN, "unstable_within": 0.0})
    assert not any("lie within" in remark for remark in none.remarks)


def test_answers_and_judgements_with_a_shortened_source_are_counted_by_role(context):
    paths = context.paths
    verdicts = change(paths.verdicts, Verdict, first=2, left_out_fragments=4)
    rewrites = change(paths.rewrites, Rewrite, first=1, left_out_fragments=1)
    judgements = change(paths.judgements, Judgement, first=1, left_out_fragments=2)
    judge = judgements[0].judge
    of_judge = sum(judgement.judge == judge for judgement in judgements)
    n_cut = len({verdict.record_id for verdict in verdicts[:2]})
    n, n_rewritten = (len({r.record_id for r in records}) for records in (verdicts, rewrites))
    (remark,) = (r for r in told(context, verifier=QWEN, rewriter=QWEN).remarks if "short" in r)
    assert remark == (
        f"the source was shortened to fit the context: for {n_cut} of {n} answers (verifier), "
        f"1 of {n_rewritten} answers (rewriter), 1 of {of_judge} judgements (judge {judge})"
    )
