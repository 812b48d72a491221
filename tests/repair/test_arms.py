"""The arms are nested, and read recorded answers only."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmend.errors import AccountingError, LookupMissError
from ragmend.records import ARMS, Candidate, Claim, Gate, Response, Verdict
from ragmend.repair.arms import check_nesting, decide, missing_verdicts, record_answers
from ragmend.repair.assembling.repaired import check_reconstruction, repair_record

TEXT = "One. Two. Three."
KINDS = ("extract", "rewrite")


def claim(number, kind="statement"):
    text = TEXT.split()[number]
    start = TEXT.index(text)
    return Claim(
        record_id="r",
        claim_id=f"r-s{number}-c0",
        text=text,
        start=start,
        end=start + len(text),
        kind=kind,
    )


CLAIMS = [claim(0), claim(1), claim(2)]


def verdict(number, p):
    return Verdict(record_id="r", claim_id=f"r-s{number}-c0", p_support=p, model="m")


def candidate(number, kind, accepted=True):
    return Candidate(
        record_id="r",
        claim_id=f"r-s{number}-c0",
        kind=kind,
        text=f"{kind} {number}.",
        evidence_ids=(),
        gate=Gate(passed=accepted),
        p_support=0.9 if accepted else None,
        accepted=accepted,
    )


def kinds(recorded, *, threshold=0.5, verify="all"):
    return {
        arm: [decide(c, arm, recorded, threshold=threshold, verify=verify).kind for c in CLAIMS]
        for arm in ARMS
    }


def test_each_arm_tries_what_its_policy_says_in_order():
    recorded = record_answers(
        [verdict(0, 0.1), verdict(1, 0.2), verdict(2, 0.3)],
        [candidate(0, "extract"), candidate(0, "rewrite"), candidate(1, "extract")],
    )
    assert kinds(recorded) == {
        "removal": ["drop", "drop", "drop"],
        "extractive": ["substitute", "substitute", "drop"],
        "generative": ["rewrite", "substitute", "drop"],
    }


def test_a_claim_at_the_threshold_is_kept():
    recorded = record_answers([verdict(0, 0.5), verdict(1, 0.4999), verdict(2, 1.0)], [])
    assert kinds(recorded)["removal"] == ["keep", "drop", "keep"]


def test_a_refused_candidate_is_not_used():
    recorded = record_answers(
        [verdict(i, 0.0) for i in range(3)], [candidate(0, "extract", accepted=False)]
    )
    assert kinds(recorded)["extractive"] == ["drop", "drop", "drop"]


def test_a_missing_verdict_stops_and_is_not_read_as_keep_or_drop():
    with pytest.raises(LookupMissError, match="r-s0-c0: no recorded verdict"):
        kinds(record_answers([], []))


def test_missing_verdicts_are_found_before_anything_is_decided():
    recorded = record_answers([verdict(0, 0.9)], [])
    assert missing_verdicts(CLAIMS, recorded, "all") == ["r-s1-c0", "r-s2-c0"]
    assert missing_verdicts([claim(1, "heading")], recorded, "statements") == []


def test_kinds_that_are_not_verified_are_kept_without_a_verdict():
    heading = claim(0, "heading")
    recorded = record_answers([], [])
    assert decide(heading, "removal", recorded, threshold=0.5, verify="statements").kind == "keep"
    with pytest.raises(LookupMissError):
        decide(heading, "removal", recorded, threshold=0.5, verify="all")


def test_two_answers_to_one_question_are_refused():
    with pytest.raises(AccountingError, match="two verdicts"):
        record_answers([verdict(0, 0.1), verdict(0, 0.2)], [])
    with pytest.raises(AccountingError, match="two extract candidates"):
        record_answers([], [candidate(0, "extract"), candidate(0, "extract")])


@given(
    st.lists(st.floats(0, 1), min_size=3, max_size=3),
    st.sets(st.tuples(st.integers(0, 2), st.sampled_from(KINDS), st.booleans()), max_size=6),
)
def test_what_a_milder_arm_drops_every_stricter_arm_drops(ps, offered):
    unique = {(n, kind): accepted for n, kind, accepted in sorted(offered)}
    recorded = record_answers(
        [verdict(n, p) for n, p in enumerate(ps)],
        [candidate(n, kind, accepted) for (n, kind), accepted in unique.items()],
    )
    decisions = {
        arm: [decide(c, arm, recorded, threshold=0.5, verify="all") for c in CLAIMS] for arm in ARMS
    }
    check_nesting(decisions)
    dropped = {
        arm: {i for i, d in enumerate(ds) if d.kind == "drop"} for arm, ds in decisions.items()
    }
    assert dropped["generative"] <= dropped["extractive"] <= dropped["removal"]


def test_a_broken_nesting_is_found():
    keep = decide(
        CLAIMS[0], "removal", record_answers([verdict(0, 1)], []), threshold=0.5, verify="all"
    )
    drop = decide(
        CLAIMS[0], "removal", record_answers([verdict(0, 0)], []), threshold=0.5, verify="all"
    )
    with pytest.raises(AccountingError, match="extractive drops it, removal does not"):
        check_nesting({"removal": [keep], "extractive": [drop], "generative": [drop]})


def repaired():
    response = Response(record_id="r", source_id="s", generator="g", text=TEXT, split="test")
    recorded = record_answers(
        [verdict(0, 0.1), verdict(1, 0.9), verdict(2, 0.3)], [candidate(0, "extract")]
    )
    return response, repair_record(response, CLAIMS, recorded, threshold=0.5, verify="all")


def test_one_record_through_every_arm_keeps_its_accounts():
    _, record = repaired()
    texts = {answer.condition: answer.text for answer in record.answers}
    assert texts == {
        "original": TEXT,
        "removal": "Two.",
        "extractive": "extract 0. Two.",
        "generative": "extract 0. Two.",
    }
    assert [(a.condition, a.n_claims, a.n_kept, a.repaired_chars) for a in record.answers] == [
        ("original", 3, 3, 16),
        ("removal", 3, 1, 4),
        ("extractive", 3, 1, 15),
        ("generative", 3, 1, 15),
    ]


def test_saved_actions_that_do_not_give_the_written_text_are_found():
    response, record = repaired()
    claims = {"r": CLAIMS}
    check_reconstruction([response], claims, record.actions, record.answers)
    changed = [
        a.model_copy(update={"text": "x"}) if a.kind == "keep" else a for a in record.actions
    ]
    with pytest.raises(AccountingError, match="the saved actions do not give the text"):
        check_reconstruction([response], claims, changed, record.answers)
    with pytest.raises(AccountingError, match="4 answers expected, 3 made"):
        check_reconstruction([response], claims, record.actions, record.answers[:3])
