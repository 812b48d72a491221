import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmend.errors import AnswerFaultError, DataError, MissingInputError
from ragmend.records import Claim, Evidence, Source
from ragmend.repair.evidence import match_evidence
from ragmend.repair.lexical.features import ANSWER_FEATURES, CLAIM_FEATURES
from ragmend.repair.lexical.parameters import dump_parameters, load_parameters, parameters_path
from ragmend.repair.lexical.verifier import LexicalVerifier

SOURCE = Source(
    source_id="q",
    task_type="QA",
    text=(
        "passage 1:Technicians in Alaska earn $23.70 an hour.\n\n"
        "passage 2:Overtime is not paid to technicians in Texas.\n\n"
    ),
    question="How are automotive technicians paid?",
)
SUPPORTED = "Technicians in Alaska earn $23.70 an hour."
UNSUPPORTED = "Mechanics in Ohio receive generous pensions worth $99.50 monthly."
PARAMETERS = load_parameters()
VERIFIER = LexicalVerifier()
texts = st.text(alphabet=st.characters(codec="utf-8"), min_size=1, max_size=60) | st.lists(
    st.sampled_from([*SUPPORTED.split(), *UNSUPPORTED.split(), "not", "passage"]), min_size=1
).map(" ".join)


def claims(*listed):
    return [
        Claim(record_id="r", claim_id=f"c{i}", text=t, start=0, end=len(t), kind="statement")
        for i, t in enumerate(listed)
    ]


def verdicts(*listed, verifier=VERIFIER, source=SOURCE):
    own = claims(*listed)
    return verifier.verify(source, own, match_evidence(source, own, top_k=3))


def score(*listed, **kwargs):
    return [verdict.p_support for verdict in verdicts(*listed, **kwargs)]


def test_the_shipped_parameters_have_exactly_the_features_that_the_code_computes():
    stored = json.loads(parameters_path().read_text())
    for name, expected in (("claim_model", CLAIM_FEATURES), ("answer_model", ANSWER_FEATURES)):
        assert tuple(curve["feature"] for curve in stored[name]["curves"]) == expected


def test_the_shipped_parameters_say_what_they_were_fitted_on():
    fitting = PARAMETERS.fitting
    assert fitting.tasks["QA"].n_claims > 20_000
    assert 0 < fitting.tasks["QA"].n_unsupported < fitting.tasks["QA"].n_claims
    assert fitting.tasks["Data2txt"].n_sources == 30
    assert len(fitting.source_ids) == sum(fit.n_sources for fit in fitting.tasks.values())
    assert "not a probability" in fitting.note
    assert min(fitting.tasks["QA"].auc, fitting.tasks["Data2txt"].auc) > 0.85
    assert "held-out AUC" in PARAMETERS.describe()[0]


@pytest.mark.parametrize(
    "worse",
    [
        "missing_words",
        "unstated_numbers",
        "numbers_elsewhere",
        "unstated_names",
        "names_elsewhere",
        "lone_negation",
        "attribute_conflicts",
        "attributes_unknown",
        "hours_conflict",
    ],
)
def test_what_the_source_lacks_lowers_the_score(worse):
    (curve,) = (c for c in PARAMETERS.claim_model.curves if c.feature == worse)
    assert curve.values[-1] < curve.values[0]


@pytest.mark.parametrize("better", ["coverage", "bigrams", "alignment", "cosine", "review_share"])
def test_what_the_source_has_raises_the_score(better):
    (curve,) = (c for c in PARAMETERS.claim_model.curves if c.feature == better)
    assert curve.values[-1] > curve.values[0]


def test_a_copied_sentence_is_supported_and_an_invented_one_is_not():
    supported, unsupported = score(SUPPORTED, UNSUPPORTED)
    assert supported > 0.7
    assert unsupported < 0.2


def test_a_changed_number_and_a_changed_name_lower_the_score():
    same, other_number, other_name = score(
        SUPPORTED, SUPPORTED.replace("23.70", "32.70"), SUPPORTED.replace("Alaska", "Nevada")
    )
    assert other_number < same
    assert other_name < same


def test_a_wrong_polarity_and_a_wrong_hour_lower_the_score():
    business = Source(
        source_id="b",
        task_type="Data2txt",
        fields={
            "name": "Corner Diner",
            "hours": dict.fromkeys(("Monday", "Tuesday"), "9:0-17:0"),
            "attributes": {"WiFi": "no", "OutdoorSeating": True},
        },
    )
    right, wrong, on_time, late = score(
        "Corner Diner has outdoor seating but no WiFi.",
        "Corner Diner has outdoor seating and free WiFi.",
        "Corner Diner is open Monday and Tuesday from 9 am to 5 pm.",
        "Corner Diner is open Monday and Tuesday from 9 am to 7 pm.",
        source=business,
    )
    assert right > 0.5 > wrong
    assert on_time > 0.5 > late


def test_the_score_is_the_shifted_probability_that_stands_beside_it():
    (verdict,) = verdicts(UNSUPPORTED)
    supported = verdict.label_probs["supported"]
    assert sum(verdict.label_probs.values()) == pytest.approx(1.0)
    log_odds = math.log(supported / (1 - supported)) + PARAMETERS.claim_model.shift
    assert verdict.p_support == pytest.approx(1 / (1 + math.exp(-log_odds)))
    assert verdict.p_support < supported


@given(st.lists(texts, min_size=1, max_size=5), st.randoms(use_true_random=False))
def test_scores_are_in_range_and_move_with_their_claims(listed, random):
    own = claims(*listed)
    evidence = match_evidence(SOURCE, own, top_k=3)
    scores = [verdict.p_support for verdict in VERIFIER.verify(SOURCE, own, evidence)]
    assert all(0.0 <= p <= 1.0 for p in scores)
    order = list(range(len(own)))
    random.shuffle(order)
    shuffled = list(evidence)
    random.shuffle(shuffled)
    moved = VERIFIER.verify(SOURCE, [own[i] for i in order], shuffled)
    assert [verdict.p_support for verdict in moved] == [scores[i] for i in order]


@pytest.mark.parametrize("window", [1, 2])
@given(st.lists(texts, min_size=1, max_size=4))
def test_an_unchanged_text_scores_in_pass_2_as_its_claim_did_in_pass_1(window, listed):
    verifier, own = LexicalVerifier(window=window), claims(*listed)
    first = verifier.verify(SOURCE, own, match_evidence(SOURCE, own, top_k=3, window=window))
    assert verifier.score_texts(SOURCE, listed) == [verdict.p_support for verdict in first]


def test_evidence_beyond_the_third_row_is_not_looked_at():
    many = Source(source_id="m", task_type="Summary", text=" ".join(["Bread rose fast."] * 6))
    own = claims("Bread rose.")
    three, six = (match_evidence(many, own, top_k=k) for k in (3, 6))
    assert len(six) == 6
    assert VERIFIER.verify(many, own, three) == VERIFIER.verify(many, own, six)


def test_evidence_of_another_source_is_refused():
    row = Evidence(
        record_id="r", claim_id="c0", rank=1, fragment_id="p9-s9", text="Elsewhere.", score=0.5
    )
    with pytest.raises(DataError, match=r"record r, claim c0: .*p9-s9"):
        VERIFIER.verify(SOURCE, claims(SUPPORTED), [row])


def test_a_score_that_is_not_finite_is_a_fault_and_no_verdict(tmp_path):
    model = PARAMETERS.claim_model
    huge = model.curves[0].model_copy(update={"values": (1e308,) * len(model.curves[0].knots)})
    broken = model.model_copy(update={"curves": (huge, *model.curves[1:]), "intercept": 1.7e308})
    path = tmp_path / "broken.json"
    path.write_bytes(dump_parameters(PARAMETERS.model_copy(update={"claim_model": broken})))
    with pytest.raises(AnswerFaultError, match="not a finite number"):
        LexicalVerifier(path).score_texts(SOURCE, [UNSUPPORTED])


def test_each_verdict_names_its_claim_and_the_verifier():
    found = verdicts(SUPPORTED, UNSUPPORTED)
    assert [verdict.claim_id for verdict in found] == ["c0", "c1"]
    assert (
        {verdict.model for verdict in found} == {VERIFIER.name} == {"lexical (no language model)"}
    )


def test_the_place_in_the_answer_counts_only_where_it_is_asked_for():
    in_answer = LexicalVerifier(use_answer=True)
    assert "answer-level features" in in_answer.name
    alone, again = score(UNSUPPORTED), score(UNSUPPORTED, SUPPORTED)[:1]
    assert alone == again
    first = score(UNSUPPORTED, verifier=in_answer)
    assert first != score(UNSUPPORTED, SUPPORTED, SUPPORTED, verifier=in_answer)[:1]


def test_the_verifier_forgets_one_source_for_the_next():
    other = Source(source_id="q", task_type="Summary", text="Mechanics in Ohio receive pensions.")
    before, after = (VERIFIER.score_texts(s, [UNSUPPORTED])[0] for s in (SOURCE, other))
    assert after > before


def test_a_missing_parameter_file_is_named():
    with pytest.raises(MissingInputError, match=r"nowhere\.json"):
        load_parameters(Path("nowhere.json"))


@pytest.mark.parametrize(
    "change",
    [{"claim_model": {}}, {"commonplaces": 1}, {"format_version": 1}, {"unknown": 1}],
)
def test_parameters_that_do_not_fit_the_code_are_refused(tmp_path, change):
    path = tmp_path / "parameters.json"
    path.write_text(json.dumps(json.loads(parameters_path().read_text()) | change))
    with pytest.raises(DataError, match="fit them anew"):
        load_parameters(path)


def test_a_model_without_one_of_the_features_is_refused(tmp_path):
    stored = json.loads(parameters_path().read_text())
    stored["claim_model"]["curves"].pop()
    path = tmp_path / "parameters.json"
    path.write_text(json.dumps(stored))
    with pytest.raises(DataError, match="fit them anew"):
        load_parameters(path)
