"""Each thing that is wrong with a training is named, and a healthy one is called usable."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmend.detector.training.health import DEGRADED_SHARE, FAILED_SHARE, Evidence, judge_training
from ragmend.errors import AccountingError
from ragmend.records import Detection
from ragmend.trained import DetectorAnswer, LayerNorm, LogRow, TokenFacts

TOKENS = TokenFacts(
    pad_token="<pad>", end_token="</s>", pad_is_end=False, n_targets=9, n_without_end=0,
    n_double_begin=0, n_served_otherwise=0,
)  # fmt: skip


def answers(n=20, **change):
    return [DetectorAnswer(record_id=str(i), text="t", n_tokens=3, **change) for i in range(n)]


def verdicts(*statuses, n=20, flags=lambda i: i % 2 == 0):
    found = {}
    for i in range(n):
        status = statuses[i] if i < len(statuses) else "ok"
        verdict = {"ok": "hallucinated" if flags(i) else "clean", "empty": "empty"}.get(
            status, "unparsed"
        )
        found[str(i)] = Detection(record_id=str(i), run_id="r", verdict=verdict, status=status)
    return found


def log(*losses):
    return [LogRow(step=n + 1, epoch=1, loss=loss, grad_norm=1.0) for n, loss in enumerate(losses)]


FALLING = [2 - n / 50 for n in range(30)]
LAYERS = [LayerNorm(layer=f"layer.{n}", a=1.0, b=1.0, delta=1.0 + n) for n in range(5)]
HEALTHY = Evidence(
    answers=answers(), verdicts=verdicts(), n_hallucinated=10, in_memory=answers(),
    reloaded=answers(), log=log(*FALLING), tokens=TOKENS, layers=LAYERS,
)  # fmt: skip


def judge(**change):
    return judge_training("big/seed-1", HEALTHY._replace(**change))


def test_a_healthy_training_is_usable_and_no_reason_is_given():
    report = judge()
    assert (report.verdict, report.reasons) == ("usable", ())
    assert report.n_reload_differs == 0
    assert report.first_loss > report.last_loss


def layer(delta):
    return [*LAYERS, LayerNorm(layer="layer.far", a=1.0, b=1.0, delta=delta)]


CASES = [
    ({"verdicts": verdicts(*["malformed"] * 2)}, "degraded", "10 % are no readable JSON"),
    ({"verdicts": verdicts(*["empty"] * 6)}, "failed", "30 % are empty"),
    ({"verdicts": verdicts(*["truncated"] * 20)}, "failed", "100 % are cut at their limit"),
    ({"answers": answers(ended=False)}, "failed", "never end"),
    ({"answers": [*answers(19), DetectorAnswer(record_id="19", problem="non_finite")]}, "failed",
     "1 of 20 answers had numbers that are none"),
    ({"verdicts": verdicts(flags=lambda i: True)}, "degraded", "flags every answer, though 10 of"),
    ({"verdicts": verdicts(flags=lambda i: False)}, "degraded", "flags none of the"),
    ({"verdicts": verdicts("malformed", flags=lambda i: True)}, "degraded", "flags every answer"),
    ({"verdicts": {k: d.model_copy(update={"contradicts": True}) for k, d in verdicts().items()}},
     "degraded", "contradict themselves"),
    ({"tokens": TOKENS.model_copy(update={"pad_is_end": True})}, "failed", "is the end token"),
    ({"tokens": TOKENS.model_copy(update={"n_without_end": 9})}, "failed", "9 of 9 targets"),
    ({"tokens": TOKENS.model_copy(update={"n_double_begin": 2})}, "degraded", "two tokens for the"),
    ({"tokens": TOKENS.model_copy(update={"n_served_otherwise": 1})}, "failed", "other tokens"),
    ({"log": log(*FALLING[:5], None, *FALLING[6:])}, "failed", "in 1 steps, first 6"),
    ({"log": log(*reversed(FALLING))}, "degraded", "did not fall"),
    ({"log": ()}, "failed", "no step was logged"),
    ({"log": [row.model_copy(update={"grad_norm": None}) for row in log(*FALLING)]}, "degraded",
     "gradients were no finite numbers in 30 steps"),
    ({"layers": layer(None)}, "failed", "as layer.far"),
    ({"layers": layer(100.0)}, "degraded", "layer.far (100 against"),
    ({"layers": layer(0.0)}, "degraded", "1 of 6 adapted layers add nothing"),
    ({"layers": [each.model_copy(update={"delta": 0.0}) for each in LAYERS]}, "failed",
     "the adapter adds nothing"),
    ({"reloaded": [*answers(19), DetectorAnswer(record_id="19", text="u")]}, "failed",
     "1 of 20 probe answers differ"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "verdict", "reason"), CASES, ids=[case[2] for case in CASES])
def test_what_is_wrong_is_named(change, verdict, reason):
    report = judge(**change)
    assert report.verdict == verdict
    assert any(reason in found for found in report.reasons), report.reasons


@given(st.integers(0, 40))
def test_the_share_of_unread_answers_decides_between_the_three_verdicts(n_unread):
    n = 40
    found = verdicts(*["malformed"] * n_unread, n=n)
    share = n_unread / n
    expected = (
        "failed" if share > FAILED_SHARE else "degraded" if share > DEGRADED_SHARE else "usable"
    )
    assert judge(answers=answers(n), verdicts=found).verdict == expected


@pytest.mark.parametrize(("flags", "n_hallucinated"), [(True, 20), (False, 0)])
def test_who_says_the_same_of_all_is_right_where_all_are_the_same(flags, n_hallucinated):
    same = verdicts(flags=lambda i: flags)
    assert judge(verdicts=same, n_hallucinated=n_hallucinated).verdict == "usable"


def test_one_bad_finding_among_good_ones_is_not_outvoted():
    report = judge(layers=layer(100.0), tokens=TOKENS.model_copy(update={"pad_is_end": True}))
    assert report.verdict == "failed"
    assert len(report.reasons) == 2
    assert "padding token" in report.reasons[0]  # the gravest comes first


def test_a_training_without_a_probe_is_not_judged():
    with pytest.raises(AccountingError, match="no answers to look at"):
        judge(answers=())


def test_probes_of_different_responses_are_not_compared():
    with pytest.raises(AccountingError, match="different responses"):
        judge(reloaded=answers(19))


def test_a_token_classifier_has_neither_tokens_nor_layers_to_look_at():
    report = judge(tokens=None, layers=())
    assert (report.verdict, report.tokens, report.layers) == ("usable", None, ())
