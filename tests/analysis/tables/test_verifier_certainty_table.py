"""What a language model's verdicts rest on, by hand counts."""

import pandas as pd
import pytest

from ragmend.analysis import Frames, Provenance, Settings, build_frames
from ragmend.analysis.analyze import analyze
from ragmend.analysis.study import Study
from ragmend.analysis.tables.recipes import TABLES, reason_to_leave_out
from ragmend.analysis.tables.verifier_certainty_table import verifier_certainty_table
from ragmend.errors import AccountingError

FAST = Settings(n_resamples=50, figure_formats=())
# record, task, P of Yes, No, " Yes", " No"; P(support) is of Yes and No alone.
CLAIMS = [
    ("r1", "QA", 0.56, 0.24, 0.0, 0.2),  # .7, of all .56
    ("r1", "QA", 0.20, 0.20, 0.0, 0.5),  # .5, of all 2/9: changes sides
    ("r1", "QA", 0.20, 0.60, 0.1, 0.1),  # .25, of all .3
    ("r2", "Summary", 0.506, 0.494, 0.0, 0.0),  # .506 under both
    ("r2", "Summary", 0.246, 0.254, 0.4, 0.0),  # .492, of all .646 / .9: changes sides
]


def verdicts(claims=CLAIMS) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "record_id": record_id,
            "claim_id": f"c{i}",
            "task": task,
            "p_support": yes / (yes + no),
            "p_low": None,
            "p_high": None,
            "candidate_mass": yes + no,
            "form_probs": {"Yes": yes, "No": no, " Yes": yes_2, " No": no_2},
            "left_out_fragments": 0,
        }
        for i, (record_id, task, yes, no, yes_2, no_2) in enumerate(claims)
    ).astype({"p_low": "float64", "p_high": "float64"})


def make(frame, provenance: Provenance | None = None):
    return verifier_certainty_table(Study(Frames(verdicts=frame), FAST, provenance or Provenance()))


def rows(frame, **options):
    return {row["task"]: row for row in make(frame, **options).frame.to_dict("records")}


def test_counts_are_as_by_hand():
    found = rows(verdicts())
    assert list(found) == ["QA", "Summary", "pooled"]
    qa, summary, pooled = found.values()
    assert (qa["claims"], summary["claims"], pooled["claims"]) == (3, 2, 5)
    assert qa["min_mass"] == pytest.approx(0.4)
    assert qa["median_mass"] == pytest.approx(0.8)
    assert (qa["low_mass"], summary["low_mass"]) == (3, 1)
    assert summary["low_mass_pct"] == 50
    # Within .01: .5, .506 and .492.
    assert (qa["unstable"], summary["unstable"]) == (1, 2)
    assert pooled["unstable_pct"] == 60
    assert (qa["changed"], summary["changed"], pooled["changed"]) == (1, 1, 2)
    assert (pooled["below_two_token"], pooled["below_all_forms"]) == (2, 2)
    assert pooled["changed_pct"] == 40


def test_the_distance_and_the_threshold_are_the_protocols():
    near = Provenance(unstable_within=0.0, threshold=0.5)
    assert rows(verdicts(), provenance=near)["pooled"]["unstable"] == 1
    high = Provenance(unstable_within=0.05, threshold=0.7)
    pooled = rows(verdicts(), provenance=high)["pooled"]
    assert (pooled["unstable"], pooled["below_two_token"]) == (1, 4)


def test_the_same_verdicts_read_the_other_way_change_the_same_sides():
    frame = verdicts()
    other = [sum(f[k] for k in ("Yes", " Yes")) / sum(f.values()) for f in frame["form_probs"]]
    found = rows(frame.assign(p_support=other))["pooled"]
    assert (found["changed"], found["below_two_token"], found["below_all_forms"]) == (2, 2, 2)


def test_of_an_interval_the_nearer_end_counts_and_the_other_way_is_unknown():
    frame = verdicts()
    frame.loc[0, ["p_low", "p_high"]] = [0.505, 0.9]
    frame.loc[2, ["p_low", "p_high"]] = [0.2, 0.3]
    table = make(frame)
    qa = table.frame.to_dict("records")[0]
    assert (qa["intervals"], qa["unstable"], qa["scored_both"], qa["changed"]) == (2, 2, 1, 1)
    assert any(note.startswith("known as intervals") for note in table.notes)
    assert not any(note.startswith("known as intervals") for note in make(verdicts()).notes)


def test_answers_whose_source_was_shortened_are_counted_once():
    frame = verdicts().assign(left_out_fragments=[2, 2, 0, 0, 0])
    found = rows(frame)
    assert [row["shortened"] for row in found.values()] == [1, 0, 1]
    assert [row["answers"] for row in found.values()] == [1, 1, 2]


def test_words_that_are_no_single_token_leave_one_way_unknown():
    frame = verdicts()
    frame["form_probs"] = [{" Yes": f["Yes"], " No": f["No"]} for f in frame["form_probs"]]
    pooled = rows(frame)["pooled"]
    assert (pooled["scored_both"], pooled["changed"], pooled["changed_pct"]) == (0, 0, None)


def test_verdicts_without_words_leave_the_scoring_unknown():
    pooled = rows(verdicts().assign(form_probs=None))["pooled"]
    assert (pooled["claims"], pooled["scored_both"]) == (5, 0)


def test_a_probability_that_its_words_do_not_give_is_refused():
    frame = verdicts()
    frame.loc[2, "p_support"] = 0.27
    with pytest.raises(AccountingError, match=r"record r1, claim c2: .* is 0\.27, but its words"):
        make(frame)


def test_an_embedded_verifier_has_none_and_the_reason_says_so(run):
    frames = build_frames(run, threshold=0.5)
    reason = reason_to_leave_out(Study(frames, FAST, Provenance()), TABLES["verifier_certainty"])
    assert reason.startswith("needs a language model's verdicts")
    alone = Study(Frames(claims=frames.claims), FAST, Provenance())
    assert reason_to_leave_out(alone, TABLES["verifier_certainty"]) == "needs verdicts"


def test_a_run_of_records_gives_the_table_and_its_sentences(model_run):
    frames = build_frames(model_run, threshold=0.5)
    analysis = analyze(frames, settings=FAST, provenance=Provenance(verifier_name="Q"))
    (_, pooled) = analysis.tables["verifier_certainty"].frame.to_dict("records")
    assert (pooled["claims"], pooled["unstable"], pooled["shortened"]) == (4, 2, 1)
    assert pooled["min_mass"] == pytest.approx(0.6)
    assert pooled["changed_pct"] == 0
    text = " ".join(s for section in analysis.sections for s in section.sentences)
    assert "Of 4 verdicts 2 (50.0 %) lie within 0.01 of the threshold" in text
    assert "the verifier put at least 0.600 of its probability on Yes and No" in text
    assert "puts 0 of 4 claims on different sides of the threshold" in text
