"""Decisions are those of the recorded answers: every broken identity stops, by name."""

import pytest

from ragmend.analysis import build_frames
from ragmend.errors import AccountingError
from ragmend.records import Gate, Rewrite, Span


def rewrites(**texts) -> list[Rewrite]:
    """What the rewriter said on the eligible claim of each record."""
    said = {"r1": "Pigs walk.", "r2": "Pigs walk."} | texts
    return [
        Rewrite(record_id=record_id, claim_id="c1", text=text, model="m")
        for record_id, text in said.items()
    ]


def with_first(run, field, **changes):
    first, *rest = getattr(run, field)
    return run._replace(**{field: [first.model_copy(update=changes), *rest]})


def refuse(run, message):
    with pytest.raises(AccountingError, match=message):
        build_frames(run, threshold=0.5)


def test_a_string_that_stands_nowhere_makes_a_label_of_1(run):
    run = with_first(run, "judgements", spans=(), unlocated=("Cows", "Cows swim"))
    labels = build_frames(run, threshold=0.5).labels
    assert labels.loc[0, ["label", "n_spans", "n_located"]].tolist() == [1, 2, 0]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"spans": ()}, "record r1, judge strict, condition original: the label is 1, with 0 "),
        ({"label": 0}, "the label is 0, with 1 spans named"),
        ({"label": 0, "spans": (), "unlocated": ("x",)}, "the label is 0, with 1 spans named"),
        (
            {"spans": (Span(start=9, end=13, text="Pigs"),)},
            "span 9:13 does not stand in the judged answer",
        ),
        ({"status": "empty_answer"}, "the status is empty_answer, but the answer has text"),
    ],
)
def test_a_label_that_is_not_that_of_its_spans_is_refused(run, changes, message):
    refuse(with_first(run, "judgements", **changes), message)


def test_an_empty_answer_that_was_judged_is_refused(run, emptied):
    judged = emptied(run, "r1", "removal")
    refuse(
        judged._replace(judgements=run.judgements),
        "condition removal: the status is ok, but the answer has no text",
    )


def test_a_probability_outside_its_interval_is_refused(run):
    refuse(
        with_first(run, "verdicts", p_interval=(0.6, 0.7)),
        r"record r1, claim c0: P\(support\) is 0.5, but known to lie in \[0.6, 0.7\]",
    )
    refuse(with_first(run, "candidates", p_interval=(0.6, 0.7)), r"P\(support\) is 0.9, but known")


def test_an_interval_on_both_sides_of_the_threshold_decides_nothing(run):
    refuse(
        with_first(run, "verdicts", p_interval=(0.4, 0.6)),
        r"record r1, claim c0: .*\[0.4, 0.6\] only, which does not decide at 0.5",
    )
    touching = with_first(run, "verdicts", p_interval=(0.5, 0.6))  # P(support) >= threshold
    assert build_frames(touching, threshold=0.5).verdicts["p_low"].tolist()[0] == 0.5


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"accepted": False}, "claim c1, extract: accepted is False, but the gate passed it"),
        ({"p_support": 0.4}, "accepted is True, .* is 0.4 at a threshold of 0.5"),
        ({"p_support": None}, "accepted is True, .* is None at a threshold of 0.5"),
        ({"gate": Gate(passed=False, reasons=("new_name",))}, "but the gate refused it"),
    ],
)
def test_a_candidate_accepted_against_gate_or_threshold_is_refused(run, changes, message):
    refuse(with_first(run, "candidates", **changes), message)


def test_what_the_rewriter_said_becomes_a_frame(run):
    assert build_frames(run, threshold=0.5).rewrites is None
    found = build_frames(run._replace(rewrites=rewrites()), threshold=0.5).rewrites
    assert found.to_numpy().tolist() == [["r1", "c1", 1], ["r2", "c1", 1]]


def test_a_claim_given_back_as_it_was_is_no_candidate(run):
    candidates = [c for c in run.candidates if (c.record_id, c.kind) != ("r1", "rewrite")]
    run = run._replace(candidates=candidates, rewrites=rewrites(r1="Pigs fly."))
    assert build_frames(run, threshold=0.5).rewrites["has_text"].tolist() == [1, 1]


def test_a_rewriter_that_was_not_asked_about_every_eligible_claim_is_refused(run):
    refuse(
        run._replace(rewrites=rewrites()[1:]),
        "record r1, claim c1: the rewriter was not asked about this eligible claim",
    )
    other = Rewrite(record_id="r2", claim_id="c0", text=None, model="m")
    refuse(
        run._replace(rewrites=[*rewrites(), other]),
        "record r2, claim c0: the rewriter was asked about this claim, which is not below the",
    )
    refuse(run._replace(rewrites=rewrites() * 2), "r1, claim c1: .* asked more than once")


@pytest.mark.parametrize("text", [None, "Pigs swim."])
def test_a_rewrite_that_the_rewriter_did_not_give_is_refused(run, text):
    refuse(
        run._replace(rewrites=rewrites(r2=text)),
        "record r2, claim c1: the rewriter did not give this rewrite",
    )
