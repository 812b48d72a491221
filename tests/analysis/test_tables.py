"""What each table says about a run, and what it refuses or leaves undefined."""

import pytest

from ragmend.analysis import Provenance, Settings, build_frames
from ragmend.analysis.analyze import analyze
from ragmend.analysis.inputs.frames import Frames
from ragmend.analysis.printing.notes import HEURISTIC_JUDGES, warnings_for
from ragmend.analysis.printing.table import print_rows
from ragmend.analysis.settings import FaultCount
from ragmend.analysis.study import Study
from ragmend.analysis.tables.recipes import TABLES
from ragmend.errors import AccountingError, StatisticsError
from ragmend.records import Gate, Rewrite

FAST = Settings(n_resamples=50)
EMBEDDED = Provenance(embedded_verifier=True, embedded_judges=True, faults=())


@pytest.fixture
def frames(run) -> Frames:
    return build_frames(run, threshold=0.5)


def make(name: str, frames: Frames, provenance: Provenance = EMBEDDED):
    return TABLES[name].make(Study(frames, FAST, provenance))


def as_dict(table, key: str, value: str) -> dict:
    return dict(zip(table.frame[key], table.frame[value], strict=True))


def test_a_run_of_records_gives_every_table(frames):
    analysis = analyze(frames, settings=FAST, provenance=EMBEDDED)
    assert analysis.left_out == {
        "table1_detectors": "needs runs",
        "seed_comparison": "needs runs",
        "detector_failures": "needs runs.empty_pct and runs.unparsed_pct",
        "detector_development": "needs development",
        "detector_runs": "needs several runs",
        "verifier_certainty": (
            "needs a language model's verdicts: this verifier's P(support) is not read from words"
        ),
        "verifier_calibration": "needs claims.split",
        "verifier_operating_points": "needs claims.split",
        "contrast_clusters": "needs records of at least two sources",
    }
    made = [name for name in TABLES if name not in analysis.left_out]
    assert list(analysis.tables) == [*made, "provenance"]


def test_what_cannot_be_made_is_left_out_with_the_reason(frames):
    analysis = analyze(Frames(labels=frames.labels), settings=FAST)
    assert list(analysis.tables) == [
        "table5_judged",
        "judge_spans",
        "contrasts",
        "task_contrasts",
        "across_judges",
        "cochran_q",
        "equivalence",
        "table6_tasks",
        "agreement",
        "judge_reliability",
        "judge_error",
        "label_budget",
        "empty_answers",
        "claims_of_the_text",
        "provenance",
    ]
    assert analysis.left_out["table3_arms"] == "needs arms"
    assert analysis.left_out["claims_by_kind"] == "needs claims.kind"


def test_claims_without_what_became_of_them_leave_out_the_tables_that_ask(frames):
    claims = frames.claims
    untold = claims[[name for name in claims if not name.startswith("action_")]]
    analysis = analyze(Frames(claims=untold), settings=FAST)
    assert "table2_verifier" in analysis.tables
    for name in ("repair_against_gold", "answers_against_gold"):
        assert analysis.left_out[name] == "needs claims.action_<arm>"
    assert analysis.left_out["acceptance"] == (
        "needs claims.action_extractive or claims.action_generative"
    )
    removed = untold.assign(action_removal=claims["action_removal"])
    analysis = analyze(Frames(claims=removed), settings=FAST)
    assert "repair_against_gold" in analysis.tables
    assert "acceptance" in analysis.left_out


def test_few_sources_are_named_under_every_interval_by_source(golden_frames):
    frame = golden_frames.records
    few = frame.assign(source_id="s" + (frame["record_id"].str[-1:]))
    frames = golden_frames._replace(records=few)
    study = Study(frames, FAST, Provenance())
    for name in (
        "table3_arms", "table7_clean_and_hallucinatory", "table6_tasks", "verifier_by_task",
        "repair_against_gold", "contrasts", "contrast_clusters", "agreement", "judge_reliability",
    ):  # fmt: skip
        notes = TABLES[name].make(study).notes
        assert any("as few as 10 sources" in note for note in notes), name


def test_no_input_at_all_is_refused():
    with pytest.raises(StatisticsError, match="no input"):
        analyze(Frames())


def test_records_alone_make_no_table_and_are_named(frames):
    with pytest.raises(StatisticsError, match="of records alone none can be made"):
        analyze(Frames(records=frames.records))


def test_every_table_of_the_embedded_backend_says_so(frames):
    for table in analyze(frames, settings=FAST, provenance=EMBEDDED).tables.values():
        (note,) = (note for note in table.notes if note.startswith("verifier:"))
        assert "no language model" in note
        assert "a score, not a probability" in note
        assert "faults: none" in table.notes


def test_what_a_reader_must_know_of_the_answers_stands_under_every_table(frames):
    marked = EMBEDDED.model_copy(
        update={"remarks": ("3 answers are left out",), "verifier_name": "lexical, other"}
    )
    for table in analyze(frames, settings=FAST, provenance=marked).tables.values():
        assert "3 answers are left out" in table.notes
        assert any("lexical, other" in note for note in table.notes)


@pytest.mark.parametrize("name", ["table5_judged", "contrasts"])
def test_heuristic_judges_are_named_under_their_numbers(frames, name):
    assert HEURISTIC_JUDGES in make(name, frames).notes
    assert HEURISTIC_JUDGES not in make(name, frames, Provenance()).notes


def test_heuristics_among_other_judges_are_named_alone(frames):
    mixed = EMBEDDED.model_copy(update={"embedded_judges": False, "heuristic_judges": ("mild",)})
    notes = make("table5_judged", frames, mixed).notes
    assert HEURISTIC_JUDGES not in notes
    (note,) = (note for note in notes if "heuristic" in note)
    assert note.startswith("judge mild: heuristic (no language model), the others are not; ")
    assert "the lexical verifier too" in note
    assert note.endswith("a lower rate by it does not show a better answer")
    assert note in warnings_for(mixed)
    both = mixed.model_copy(update={"heuristic_judges": ("mild", "odd")})
    (note,) = (note for note in make("table5_judged", frames, both).notes if "heuristic" in note)
    assert note.startswith("judges mild, odd: heuristic")
    assert note.endswith("a lower rate by them does not show a better answer")


def test_with_a_language_model_as_verifier_heuristic_judges_share_no_evidence_with_it(frames):
    model = Provenance(verifier_name="Q-32B, awq, two-token", embedded_judges=True)
    notes = make("table5_judged", frames, model).notes
    assert "verifier: Q-32B, awq, two-token" in notes
    (note,) = (note for note in notes if "heuristic" in note)
    assert "lexical" not in note
    mixed = model.model_copy(update={"embedded_judges": False, "heuristic_judges": ("mild",)})
    (note,) = (note for note in make("contrasts", frames, mixed).notes if "heuristic" in note)
    assert "lexical" not in note


def test_judges_that_are_all_language_models_have_no_such_note(frames):
    assert not any("heuristic" in n for n in make("contrasts", frames, Provenance()).notes)


def test_another_verifier_is_named(frames):
    notes = make("table3_arms", frames, Provenance(verifier_name="Llama-3.3-70B")).notes
    assert "verifier: Llama-3.3-70B" in notes


def test_faults_are_counted_by_stage_and_status_under_every_table(frames):
    fault = FaultCount(stage="judge", status="malformed", count=1, answers=16)
    provenance = Provenance(faults=(fault,))
    for table in analyze(frames, settings=FAST, provenance=provenance).tables.values():
        assert "faults: judge malformed 1 of 16 (6.3 %)" in table.notes


def test_what_an_input_does_not_say_about_faults_is_not_taken_for_none(frames):
    assert "faults: not recorded in this input" in make("contrasts", frames, Provenance()).notes


def test_selection_counts_unparsed_answers_beside_the_score(frames):
    counts = as_dict(make("selection", frames), "quantity", "value")
    assert (counts["TP"], counts["FP"], counts["FN"], counts["TN"]) == (1, 1, 0, 1)
    assert (counts["unparsed"], counts["empty"]) == (1, 0)
    assert counts["task_QA"] == 2


def test_selection_without_gold_is_undefined_and_says_why(frames):
    selection = frames.selection.assign(gold=frames.selection["gold"].where([False] * 3))
    table = make("selection", frames._replace(selection=selection))
    assert as_dict(table, "quantity", "pct")["precision"] is None
    assert ["precision", "—", "—", "—"] in print_rows(table)
    assert "no gold labels: scores against gold are undefined" in table.notes


def test_a_partly_annotated_selection_scores_the_annotated_part(frames):
    selection = frames.selection.assign(gold=frames.selection["gold"].where([True, True, False]))
    table = make("selection", frames._replace(selection=selection))
    assert as_dict(table, "quantity", "of")["base_rate"] == 2
    assert any(note.startswith("1 of 3 responses have no gold label") for note in table.notes)


def test_a_flag_that_is_neither_0_nor_1_is_refused(frames):
    selection = frames.selection.assign(flagged=[1, 2, 0])
    with pytest.raises(StatisticsError, match="response_id r2, flagged 2"):
        make("selection", frames._replace(selection=selection))


def test_empty_answers_have_a_column_and_a_rate_without_them(frames):
    labels = frames.labels
    is_empty = (labels["record_id"] == "r1") & (labels["condition"] == "removal")
    labels = labels.drop(columns=["n_spans", "n_located"])
    labels = labels.assign(empty=is_empty.astype(int), label=(~is_empty).astype(int))
    table = make("table5_judged", frames._replace(labels=labels))
    row = table.frame.query("condition == 'removal'").iloc[0]
    assert (row["n"], row["hallucinated"], row["empty"]) == (2, 1, 1)
    assert (row["rate_pct"], row["rate_nonempty_pct"]) == (50, 100)


def test_a_label_table_without_an_empty_column_says_so(frames):
    table = make("table5_judged", frames._replace(labels=frames.labels.drop(columns="empty")))
    assert set(table.frame["empty"]) == {None}
    assert "empty answers: not marked in this input" in table.notes


def test_candidates_give_the_gates_part_of_acceptance(frames):
    table = make("acceptance", frames)
    assert table.frame["proposed"].tolist() == [2, 2, 0]
    assert table.frame["passed_gate"].tolist() == [2, 2, 0]
    assert table.frame["of_proposed_pct"].tolist() == [100, 100, None]


def test_what_the_rewriter_said_stands_beside_what_was_proposed(run):
    said = {"r1": "Pigs walk.", "r2": "Pigs fly."}  # r2's claim, given back as it was
    rewrites = [Rewrite(record_id=r, claim_id="c1", text=t, model="m") for r, t in said.items()]
    candidates = [c for c in run.candidates if (c.record_id, c.kind) != ("r2", "rewrite")]
    actions = [
        action.model_copy(update={"kind": "substitute", "text": "Pigs run."})
        if (action.record_id, action.kind) == ("r2", "rewrite")
        else action
        for action in run.actions
    ]
    run = run._replace(rewrites=rewrites, candidates=candidates, actions=actions)
    table = make("acceptance", build_frames(run, threshold=0.5))
    columns = ["asked", "nothing_supported", "unchanged", "proposed", "accepted"]
    assert table.frame[columns].to_numpy().tolist()[:2] == [
        [None, None, None, 2, 2],
        [2, 0, 1, 1, 1],
    ]
    nothing = rewrites[1].model_copy(update={"text": None})
    again = build_frames(run._replace(rewrites=[rewrites[0], nothing]), threshold=0.5)
    assert make("acceptance", again).frame.loc[1, columns].tolist() == [2, 1, 0, 1, 1]


def test_what_the_rewriter_said_is_undefined_where_it_was_not_recorded(frames):
    table = make("acceptance", frames)
    assert set(table.frame["asked"]) == set(table.frame["nothing_supported"]) == {None}
    assert "what the rewriter said of each claim: not in this input" in table.notes


def test_more_proposed_than_the_rewriter_gave_is_refused(frames):
    import pandas as pd

    said = pd.DataFrame({"record_id": ["r1", "r2"], "claim_id": "c1", "has_text": [1, 0]})
    with pytest.raises(AccountingError, match="2 rewrites are proposed, but the rewriter gave a"):
        make("acceptance", frames._replace(rewrites=said))


def test_the_papers_counts_stand_beside_ours_as_the_papers(frames):
    table = make("acceptance", frames)
    columns = ["paper_eligible", "paper_proposed", "paper_accepted"]
    assert table.frame[columns].to_numpy().tolist() == [
        [3014, None, 766],
        [3014, 1686, 913],
        [None, None, 459],
    ]
    # 766 / 3,014, 913 / 3,014 and 913 / 1,686
    assert [row[-2:] for row in print_rows(table)] == [["25.4", "—"], ["30.3", "54.2"], ["—", "—"]]
    assert any(note.startswith("paper: counts of arXiv 2608.29307") for note in table.notes)


def test_accepted_candidates_that_reach_no_answer_are_refused(frames):
    candidates = frames.candidates.assign(accepted=[True, True, True, False])
    with pytest.raises(AccountingError, match="1 accepted rewrite candidates, but 2 rewrite"):
        make("acceptance", frames._replace(candidates=candidates))


def test_claims_that_removal_dropped_above_the_threshold_are_refused(frames):
    with pytest.raises(AccountingError, match=r"record r1, claim c1.*the run's threshold"):
        make("claims_by_kind", frames, Provenance(threshold=0.1))


def test_claims_are_counted_by_kind(frames):
    table = make("claims_by_kind", frames)
    assert table.frame.to_numpy().tolist() == [
        ["statement", 4, 4, 2, 50],
        ["all", 4, 4, 2, 50],
    ]


def test_gate_reasons_are_counted_by_kind_of_candidate(run):
    refused = Gate(passed=False, reasons=("new_number", "new_name"))
    first = run.candidates[0].model_copy(
        update={"gate": refused, "p_support": None, "accepted": False}
    )
    frames = build_frames(run._replace(candidates=[first, *run.candidates[1:]]), threshold=0.5)
    table = make("gate_reasons", frames)
    assert table.frame.to_numpy().tolist() == [
        ["extract", "any reason", 1, 2, 50],
        ["extract", "new_name", 1, 2, 50],
        ["extract", "new_number", 1, 2, 50],
        ["rewrite", "any reason", 0, 2, 0],
    ]


def test_every_number_under_a_judge_can_be_traced_to_a_listed_column(golden_analysis):
    for table in golden_analysis.tables.values():
        for column in table.columns:
            names = [column.name]
            if column.style == "interval":
                names = [f"{column.name}_low", f"{column.name}_high"]
            assert set(names) <= set(table.frame.columns)


def scores_frame(*rows):
    import pandas as pd

    columns = ["run_id", "protocol", "level", "group", "n_responses", "tp", "fp", "fn", "tn"]
    return pd.DataFrame([("d", "all", "response", *row) for row in rows], columns=columns)


def test_detector_scores_are_exact_and_macro_is_the_mean_of_the_tasks():
    rows = [("QA", 10, 3, 1, 1, 5), ("Summary", 10, 1, 0, 3, 6), ("pooled", 20, 4, 1, 4, 11)]
    table = make("detector_scores", Frames(detectors=scores_frame(*rows)))
    assert [row[-3:] for row in print_rows(table)] == [
        ["75.0", "75.0", "75.0"],
        ["100.0", "25.0", "40.0"],
        ["80.0", "50.0", "61.5"],
        ["—", "—", "57.5"],
    ]


def test_an_undefined_f1_of_one_task_leaves_the_macro_undefined():
    rows = [("QA", 10, 3, 1, 1, 5), ("Summary", 10, 0, 0, 0, 10)]
    table = make("detector_scores", Frames(detectors=scores_frame(*rows)))
    assert [row[-1] for row in print_rows(table)] == ["75.0", "—", "—"]


def test_a_gate_reason_counts_by_its_kind_whatever_it_names(run):
    refused = [
        candidate.model_copy(
            update={
                "gate": Gate(passed=False, reasons=(f"unsupported_number: {n}",)),
                "p_support": None,
                "accepted": False,
            }
        )
        for n, candidate in enumerate(run.candidates)
    ]
    frames = build_frames(run, threshold=0.5)._replace(
        candidates=build_frames(run._replace(candidates=refused), threshold=0.5).candidates
    )
    table = make("gate_reasons", frames)
    assert set(table.frame["reason"]) == {"any reason", "unsupported_number"}
