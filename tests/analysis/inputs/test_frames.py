"""From records to tidy frames, and the identities that are checked on the way."""

import pytest

from ragmend.analysis import build_frames, check_accounting
from ragmend.errors import AccountingError, StatisticsError


def test_a_complete_run_balances(run):
    check_accounting(run)


def test_the_labels_frame_has_one_row_a_cell(run):
    labels = build_frames(run, threshold=0.5).labels
    assert list(labels.columns) == [
        "record_id", "source_id", "task", "gold", "judge", "condition", "label", "empty",
        "n_spans", "n_located",
    ]  # fmt: skip
    assert len(labels) == 2 * 2 * 4
    assert labels.iloc[0].tolist() == ["r1", "s1", "QA", 1, "strict", "original", 1, 0, 1, 1]


def test_the_arms_frame_counts_what_happened_to_the_claims(run):
    arms = build_frames(run, threshold=0.5).arms
    assert list(arms.columns) == [
        "record_id", "task", "gold", "arm", "claims", "eligible", "claims_kept", "dropped",
        "substituted", "rewritten", "original_chars", "repaired_chars",
    ]  # fmt: skip
    assert arms.query("record_id == 'r2'").to_numpy().tolist() == [
        ["r2", "QA", 0, "removal", 2, 1, 1, 1, 0, 0, 19, 9],
        ["r2", "QA", 0, "extractive", 2, 1, 2, 0, 1, 0, 19, 19],
        ["r2", "QA", 0, "generative", 2, 1, 2, 0, 0, 1, 19, 20],
    ]


def test_a_claim_on_the_threshold_is_not_eligible(run):
    claims = build_frames(run, threshold=0.5).claims
    assert claims.query("claim_id == 'c0'")["p_support"].tolist() == [0.5, 0.5]
    assert set(claims.query("claim_id == 'c0'")["action_removal"]) == {"keep"}


def test_the_claims_frame_has_the_golden_columns_the_kind_and_the_text(run, golden_frames):
    claims = build_frames(run, threshold=0.5).claims
    own = ("kind", "text")
    assert [c for c in claims.columns if c not in own] == list(golden_frames.claims.columns)
    assert claims.iloc[1].tolist() == [
        "r1", "c1", "QA", 1, "statement", "Pigs fly.", 0.25, 1, 1,
        "drop", "substitute", 1, "rewrite",
    ]  # fmt: skip


def test_the_actions_frame_has_the_text_that_stands_in_the_answer(run):
    actions = build_frames(run, threshold=0.5).actions
    assert list(actions.columns) == ["record_id", "claim_id", "arm", "kind", "edits", "text"]
    assert actions.query("record_id == 'r1' and claim_id == 'c1'")["text"].tolist() == [
        "", "Pigs run.", "Pigs walk.",
    ]  # fmt: skip


def test_a_claim_is_unsupported_by_gold_from_one_shared_character_on(run):
    claims = build_frames(run, threshold=0.5).claims
    assert claims["gold_unsupported"].tolist() == [0, 1, 0, 0]
    span = run.responses[0].gold_spans[0]
    touching = span.model_copy(update={"start": 9, "end": 10, "text": " "})
    response = run.responses[0].model_copy(update={"gold_spans": (touching,)})
    run = run._replace(responses=[response, run.responses[1]])
    assert build_frames(run, threshold=0.5).claims["gold_unsupported"].tolist() == [0, 0, 0, 0]


def test_the_other_frames_have_the_golden_columns(run, golden_frames):
    frames = build_frames(run, threshold=0.5)
    assert list(frames.records.columns) == list(golden_frames.records.columns)
    assert set(golden_frames.selection.columns) < set(frames.selection.columns)
    assert set(golden_frames.labels.columns) < set(frames.labels.columns)
    assert list(golden_frames.arms.columns) == list(frames.arms.columns)


def test_the_selection_frame_names_the_record_only_when_flagged(run):
    selection = build_frames(run, threshold=0.5).selection
    assert selection["flagged"].tolist() == [1, 1, 0]
    assert selection["record_id"].isna().tolist() == [False, False, True]
    assert selection["verdict"].tolist() == ["hallucinated", "hallucinated", "unparsed"]


def test_without_annotation_gold_is_missing_and_not_zero(run):
    unannotated = [r.model_copy(update={"gold_spans": None}) for r in run.responses]
    selected = [s.model_copy(update={"gold": None}) for s in run.selected]
    frames = build_frames(run._replace(responses=unannotated, selected=selected), threshold=0.5)
    assert frames.records["gold"].isna().all()
    assert frames.claims["gold_unsupported"].isna().all()
    assert frames.claims["record_gold"].isna().all()
    assert frames.selection["gold"].isna().all()


def test_an_empty_answer_is_marked_in_the_labels(run, emptied):
    labels = build_frames(emptied(run, "r1", "removal"), threshold=0.5).labels
    assert labels["empty"].sum() == 2  # judges


def test_a_heading_may_go_without_a_verdict_and_a_statement_may_not(run):
    headless = run._replace(verdicts=run.verdicts[1:])
    with pytest.raises(AccountingError, match="verdict of claim r1, c0: missing"):
        build_frames(headless, threshold=0.5)
    heading = run.claims[0].model_copy(update={"kind": "heading"})
    headless = headless._replace(claims=[heading, *run.claims[1:]])
    assert build_frames(headless, threshold=0.5).claims["p_support"].isna().tolist()[:2] == [
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ("verdicts", "verdict of claim r2, c1: missing"),
        ("actions", "action r2, c1, generative: missing"),
        ("answers", "answer r2, generative: missing"),
        ("responses", "response r2: missing"),
        ("claims", "claim of verdict r2, c1: missing"),
    ],
)
def test_a_lost_record_is_named(run, field, message):
    lossy = run._replace(**{field: getattr(run, field)[:-1]})
    with pytest.raises(AccountingError, match=message):
        build_frames(lossy, threshold=0.5)


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ("selected", "response of the split r1: occurs 2 times"),
        ("responses", "response r1: occurs 2 times"),
        ("population", "record of the population r1: occurs 2 times"),
        ("claims", "claim r1, c0: occurs 2 times"),
        ("verdicts", "verdict r1, c0: occurs 2 times"),
        ("candidates", "candidate r1, c1, extract: occurs 2 times"),
        ("actions", "action r1, c0, removal: occurs 2 times"),
        ("answers", "answer r1, original: occurs 2 times"),
    ],
)
def test_a_doubled_record_is_named(run, field, message):
    records = getattr(run, field)
    with pytest.raises(AccountingError, match=message):
        build_frames(run._replace(**{field: [*records, records[0]]}), threshold=0.5)


def test_a_population_that_was_not_flagged_is_refused(run):
    unflagged = run.selected[0].model_copy(update={"flagged": False, "verdict": "clean"})
    with pytest.raises(AccountingError, match="flagged response r1: missing"):
        check_accounting(run._replace(selected=[unflagged, *run.selected[1:]]))


def test_a_source_without_a_task_is_refused(run):
    with pytest.raises(AccountingError, match="task of source s1: missing"):
        check_accounting(run._replace(tasks={}))


def test_an_answer_that_miscounts_its_claims_is_refused(run):
    wrong = run.answers[0].model_copy(update={"n_claims": 3})
    with pytest.raises(AccountingError, match=r"record r1, condition original.*3 claims"):
        check_accounting(run._replace(answers=[wrong, *run.answers[1:]]))


def test_an_answer_that_miscounts_what_was_kept_is_refused(run):
    wrong = run.answers[1].model_copy(update={"n_kept": 2})
    run = run._replace(answers=[run.answers[0], wrong, *run.answers[2:]])
    with pytest.raises(AccountingError, match=r"record r1, arm removal.*'drop': 1, 'keep': 1"):
        build_frames(run, threshold=0.5)


def test_another_threshold_than_the_runs_does_not_balance(run):
    with pytest.raises(AccountingError, match="2 claims are eligible"):
        build_frames(run, threshold=0.75)


def test_a_missing_judgement_is_named(run):
    with pytest.raises(
        StatisticsError, match=r"record r2, judge mild, condition generative: .*found 0"
    ):
        build_frames(run._replace(judgements=run.judgements[:-1]), threshold=0.5)


def test_a_doubled_judgement_is_named(run):
    doubled = [*run.judgements, run.judgements[0]]
    with pytest.raises(
        StatisticsError, match=r"record r1, judge strict, condition original: .*found 2"
    ):
        build_frames(run._replace(judgements=doubled), threshold=0.5)


def test_a_judge_outside_the_protocol_is_named(run):
    with pytest.raises(StatisticsError, match=r"judge strict.*no such cell in the protocol"):
        build_frames(run._replace(judges=("mild",)), threshold=0.5)
