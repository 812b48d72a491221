"""Candidates: one extract and one rewrite at most, gated, then verified at the same threshold."""

import asyncio

import pytest

from ragmend.errors import AnswerFaultError
from ragmend.llm.labels import Support
from ragmend.records import Claim, Evidence, Rewrite, Source
from ragmend.repair.candidates import Acceptance, propose_candidates

SOURCE = Source(
    source_id="s",
    task_type="Summary",
    text=(
        "The old bridge was closed on May 3 after a flood. Mayor Ada Holt asked for "
        "3.5 million dollars. She was arrested and could face 15 years in prison."
    ),
)
FIELDS = Source(
    source_id="f",
    task_type="Data2txt",
    fields={"name": "Blue Fig", "attributes": {"WiFi": "no", "Music": None}},
)


class ScriptedVerifier:
    """Gives the scores it was told to, and keeps what it was asked."""

    name = "scripted"

    def __init__(self, *scores):
        self.scores, self.asked = list(scores), []

    async def verify(self, source, answer, claims, evidence):
        raise AssertionError("pass 1 is not asked here")

    async def score_texts(self, source, answer, texts):
        self.asked += texts
        scores = [self.scores.pop(0) for _ in texts]
        return [each if isinstance(each, Support) else Support(each) for each in scores]


def rewrite(claim, text):
    return Rewrite(record_id=claim.record_id, claim_id=claim.claim_id, text=text, model="scripted")


def claim(number, text, kind="statement"):
    return Claim(
        record_id="r",
        claim_id=f"r-s{number}-c0",
        text=text,
        start=100 * number,
        end=100 * number + len(text),
        kind=kind,
    )


def evidence(number, fragment_id, rank=1, score=0.5):
    return Evidence(
        record_id="r",
        claim_id=f"r-s{number}-c0",
        rank=rank,
        fragment_id=fragment_id,
        text="x",
        score=score,
    )


def propose(
    claims, rows, *, scores=(), rewrites=(), source=SOURCE, verify_edit="claim", answer=None
):
    verifier = ScriptedVerifier(*scores)
    proposing = propose_candidates(
        source,
        " ".join(c.text for c in claims) if answer is None else answer,
        claims,
        evidence=rows,
        eligible=frozenset(c.claim_id for c in claims),
        rewrites=[rewrite(*pair) for pair in zip(claims, rewrites, strict=False)],
        acceptance=Acceptance(verifier, 0.5, verify_edit),
    )
    return asyncio.run(proposing), verifier


def test_the_best_fragment_is_the_only_extract():
    rows = [evidence(0, "s1", rank=2), evidence(0, "s0", rank=1)]
    (found,), _ = propose([claim(0, "The bridge fell.")], rows, scores=[0.9])
    assert found.text == "The old bridge was closed on May 3 after a flood."
    assert (found.kind, found.evidence_ids, found.accepted) == ("extract", ("s0",), True)


@pytest.mark.parametrize(("score", "accepted"), [(0.5, True), (0.4999, False)])
def test_pass_two_uses_the_same_threshold(score, accepted):
    (found,), _ = propose([claim(0, "It fell.")], [evidence(0, "s0")], scores=[score])
    assert (found.accepted, found.p_support, found.gate.passed) == (accepted, score, True)


def test_a_fragment_that_stands_in_the_answer_already_is_refused_and_not_verified():
    text = "the OLD bridge was closed on May 3, after a flood"
    (found,), verifier = propose([claim(0, text)], [evidence(0, "s0")])
    assert found.gate.reasons == ("already_in_answer",)
    assert (found.accepted, found.p_support, verifier.asked) == (False, None, [])


def test_a_fragment_is_substituted_once_in_an_answer():
    claims = [claim(0, "It fell."), claim(1, "It sank.")]
    found, _ = propose(claims, [evidence(0, "s0"), evidence(1, "s0")], scores=[0.9, 0.9])
    assert [c.gate.reasons for c in found] == [(), ("already_substituted",)]
    assert [(c.accepted, c.p_support) for c in found] == [(True, 0.9), (False, None)]


def test_an_extract_refused_in_pass_two_leaves_its_fragment_to_a_later_claim():
    claims = [claim(0, "It fell."), claim(1, "It sank.")]
    found, _ = propose(claims, [evidence(0, "s0"), evidence(1, "s0")], scores=[0.1, 0.9])
    assert [(c.gate.passed, c.accepted) for c in found] == [(True, False), (True, True)]


def test_a_field_that_the_answer_says_in_words_is_refused():
    hours = Source(source_id="h", task_type="Data2txt", fields={"hours": {"Monday": "9:0-17:0"}})
    rows = [evidence(0, "f-hours.Monday")]
    answer = "The business is open on Monday from 9 am to 5 pm."
    (found,), _ = propose([claim(0, "It opens late.")], rows, source=hours, answer=answer)
    assert found.gate.reasons == ("already_in_answer",)


def test_a_fragment_that_only_leads_in_is_no_statement():
    source = Source(source_id="s", task_type="Summary", text="The mayor gave these reasons:")
    (found,), _ = propose([claim(0, "He quit.")], [evidence(0, "s0")], source=source)
    assert found.gate.reasons == ("not_a_statement",)


def test_an_unknown_value_is_no_statement():
    rows = [evidence(0, "f-attributes.Music")]
    (found,), _ = propose([claim(0, "It plays live music.")], rows, source=FIELDS)
    assert found.gate.reasons == ("unknown_value",)


def test_a_claim_without_evidence_gets_no_extract():
    found, _ = propose([claim(0, "It fell.")], [])
    assert found == []


def test_headings_lead_ins_and_questions_get_no_extract_but_what_the_rewriter_made_of_them():
    kinds = ("heading", "lead_in", "question")
    claims = [claim(i, "It fell", kind) for i, kind in enumerate(kinds)]
    rows = [evidence(i, "s0") for i in range(3)]
    assert propose(claims, rows)[0] == []
    found, _ = propose(claims, rows, scores=[0.9] * 3, rewrites=["The old bridge"] * 3)
    assert [(c.kind, c.accepted) for c in found] == [("rewrite", True)] * 3


def test_a_rewrite_that_says_nothing_is_supported_proposes_nothing():
    found, verifier = propose([claim(0, "It fell.")], [], rewrites=[None])
    assert (found, verifier.asked) == ([], [])


def test_an_edit_known_only_between_limits_around_the_threshold_is_a_fault():
    vague = Support(0.5, 0.6, (0.4, 0.6))
    with pytest.raises(AnswerFaultError) as caught:
        propose([claim(0, "It fell.")], [evidence(0, "s0")], scores=[vague])
    assert (caught.value.status, caught.value.claim_id) == ("undecided", "r-s0-c0")
    clear = Support(0.7, 0.8, (0.5, 0.9))
    (found,), _ = propose([claim(0, "It fell.")], [evidence(0, "s0")], scores=[clear])
    assert (found.accepted, found.candidate_mass, found.p_interval) == (True, 0.8, (0.5, 0.9))


def test_a_rewrite_with_a_foreign_number_is_refused_with_the_number():
    rewrites = ["Mayor Holt asked for 4 million dollars."]
    (found,), _ = propose([claim(0, "Holt asked for money.")], [], rewrites=rewrites)
    assert found.kind == "rewrite"
    assert found.gate.reasons == ("unsupported_number: 4 million dollars",)


def test_a_rewrite_that_changes_nothing_is_not_proposed():
    found, _ = propose([claim(0, "The bridge fell.")], [], rewrites=["the bridge fell"])
    assert found == []


def test_in_context_the_edit_is_verified_between_its_neighbours():
    claims = [claim(0, "One."), claim(1, "It fell."), claim(2, "Three.")]
    verifier = ScriptedVerifier(0.9)
    asyncio.run(
        propose_candidates(
            SOURCE,
            "One. It fell. Three.",
            claims,
            evidence=[evidence(1, "s0")],
            eligible=frozenset({"r-s1-c0"}),
            rewrites=[],
            acceptance=Acceptance(verifier, 0.5, "in_context"),
        )
    )
    assert verifier.asked == ["One. The old bridge was closed on May 3 after a flood. Three."]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("The bridge fell. It was closed on May 3 after the flood.", "refers_back"),
        ("The bridge fell. The road was closed on May 3,, ,after the flood.", "not_well_formed"),
    ],
)
def test_a_fragment_that_could_not_stand_alone_is_refused(text, reason):
    source = Source(source_id="s", task_type="Summary", text=text)
    (found,), verifier = propose([claim(0, "It sank.")], [evidence(0, "s1")], source=source)
    assert found.gate.reasons == (reason,)
    assert verifier.asked == []


def test_a_window_of_sentences_is_evidence_but_no_extract():
    only, _ = propose([claim(0, "It sank.")], [evidence(0, "s0+s1")])
    assert only == []
    rows = [evidence(0, "s0+s1", rank=1), evidence(0, "s1", rank=2)]
    (found,), _ = propose([claim(0, "It sank.")], rows, scores=[0.9])
    assert found.evidence_ids == ("s1",)


def test_two_claims_are_not_both_replaced_by_lines_that_share_a_field():
    nine = "9:0-17:0"
    hours = {"hours": {"Monday": nine, "Tuesday": nine}}
    source = Source(source_id="f", task_type="Data2txt", fields=hours)
    own = [claim(0, "It opens on Mondays at 8."), claim(1, "It opens at 7.")]
    rows = [evidence(0, "f-hours.Monday"), evidence(1, "f-hours=Mon-Tue")]
    found, _ = propose(own, rows, source=source, scores=[0.9, 0.9])
    assert [candidate.gate.reasons for candidate in found] == [(), ("already_substituted",)]


@pytest.mark.parametrize(
    "text",
    [
        "The passages do not mention a bridge.",
        "Unable to answer based on given passages.",
        "I hope this helps!",
    ],
)
def test_what_an_answer_says_of_its_passages_gets_no_extract(text):
    found, verifier = propose([claim(0, text)], [evidence(0, "s0")])
    assert (found, verifier.asked) == ([], [])


@pytest.mark.parametrize(("score", "reasons"), [(0.3, ()), (0.2999, ("off_topic",))])
def test_a_fragment_that_is_hardly_about_the_claim_is_refused(score, reasons):
    rows = [evidence(0, "s0", score=score)]
    (found,), _ = propose([claim(0, "The bridge fell.")], rows, scores=[0.9])
    assert found.gate.reasons == reasons
