import numpy as np
import pytest

from ragmend.errors import DataError
from ragmend.records import Claim, GoldSpan, Response, Source
from ragmend.repair.lexical.examples import ClaimExample, is_supported
from ragmend.repair.lexical.fit import (
    INVERSE_PENALTY,
    N_FOLDS,
    _deal,
    _fit,
    _fit_shifted,
    _hats,
    _knots,
    fit_verifier,
)
from ragmend.repair.lexical.parameters import dump_parameters, load_parameters
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


def gold(start, end, text):
    return GoldSpan(start=start, end=end, text=text[start:end], label_type="Evident Conflict")


def annotated(record_id, source_id, text, spans=()):
    return Response(
        record_id=record_id,
        source_id=source_id,
        generator="g",
        text=text,
        gold_spans=tuple(gold(start, end, text) for start, end in spans),
        split="train",
    )


def training_set():
    sources, responses = {}, []
    for i in range(10):
        source_id = f"s{i}"
        sources[source_id] = SOURCE.model_copy(update={"source_id": source_id})
        text = f"{SUPPORTED} {UNSUPPORTED}"
        responses.append(annotated(f"{i}", source_id, text, [(len(SUPPORTED) + 1, len(text))]))
    return responses, sources


def test_one_shared_character_with_a_gold_span_makes_a_claim_unsupported():
    text = "Bread rose. Then it fell."
    claim = Claim(
        record_id="r", claim_id="c", text="Bread rose.", start=0, end=11, kind="statement"
    )
    assert not is_supported(claim, [gold(10, 16, text)])
    assert is_supported(claim, [gold(11, 16, text)])


def test_fitting_learns_holds_out_and_repeats_itself(tmp_path):
    responses, sources = training_set()
    fitted = fit_verifier(responses, sources, seed=1, origin="these")
    again = fit_verifier(responses[::-1], sources, seed=1, origin="these")
    assert dump_parameters(fitted) == dump_parameters(again)
    assert fitted.fitting.note.startswith("Fitted on these.")
    assert fitted.fitting.tasks["QA"].model_dump() == {
        "n_sources": 10,
        "n_responses": 10,
        "n_claims": 20,
        "n_unsupported": 10,
        "auc": 1.0,
        "auc_in_answer": 1.0,
        "below": 0.0,
    }
    assert fitted.fitting.source_ids == tuple(sorted(sources))
    path = tmp_path / "parameters.json"
    path.write_bytes(dump_parameters(fitted))
    assert load_parameters(path) == fitted
    supported, unsupported = LexicalVerifier(path).score_texts(SOURCE, [SUPPORTED, UNSUPPORTED])
    assert supported > unsupported


def test_the_fitted_curves_are_scikit_learns_logistic_regression_on_the_same_hats():
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    rng = np.random.default_rng(0)
    features_CF = np.column_stack([rng.normal(size=300), rng.integers(0, 3, 300)])
    supported_C = features_CF[:, 0] + rng.normal(size=300) > 0
    model = _fit(features_CF, supported_C, ("a", "b"))
    hats = np.hstack([_hats(column, _knots(column)) for column in features_CF.T])
    outside = make_pipeline(StandardScaler(), LogisticRegression(C=INVERSE_PENALTY, max_iter=2000))
    expected = outside.fit(hats, supported_C).decision_function(hats)
    assert [model.log_odds(row) for row in features_CF] == pytest.approx(expected, abs=1e-6)


def test_hats_add_up_to_one_between_the_knots():
    column = np.random.default_rng(1).exponential(size=500)
    knots = _knots(column)
    assert knots[0] == column.min()
    assert knots[-1] == column.max()
    assert _hats(column, knots).sum(axis=1) == pytest.approx(1.0)


def example(number, rng):
    is_hallucinated = bool(rng.random() < 0.5)
    is_unsupported = is_hallucinated and bool(rng.random() < 0.4)
    return ClaimExample(
        task_type="QA",
        source_id=f"s{number % 40}",
        record_id=f"r{number}",
        claim_id=f"c{number}",
        features=(float(is_unsupported) + rng.normal(),),
        place=(0.0, 0.0, 0.0),
        is_supported=not is_unsupported,
        is_answer_hallucinated=is_hallucinated,
    )


def test_the_shift_puts_the_papers_share_of_held_out_claims_below_one_half():
    rng = np.random.default_rng(2)
    examples = [example(number, rng) for number in range(800)]
    folds = _deal([f"s{n}" for n in range(40)], seed=1)
    fold_C = np.array([folds[each.source_id] for each in examples])
    model, held_out_C = _fit_shifted(examples, fold_C, ("x",), lambda each: each.features)
    hallucinated_C = np.array([each.is_answer_hallucinated for each in examples])
    share = np.mean(held_out_C[hallucinated_C] + model.shift < 0)
    assert share == pytest.approx(3014 / 7926, abs=2 / hallucinated_C.sum())
    assert np.mean(held_out_C[hallucinated_C] < 0) < 0.2  # unshifted: almost none


def test_sources_are_dealt_into_folds_of_equal_size_whatever_their_order():
    ids = [f"s{i}" for i in range(20)]
    dealt = _deal(ids, seed=3)
    assert dealt == _deal(ids[::-1], seed=3)
    assert dealt != _deal(ids, seed=4)
    assert sorted(dealt.values()) == sorted(list(range(N_FOLDS)) * 4)


def test_fitting_refuses_what_is_not_annotated_too_little_or_all_alike():
    responses, sources = training_set()
    blank = [responses[0].model_copy(update={"gold_spans": None}), *responses[1:]]
    with pytest.raises(DataError, match="record 0: not annotated"):
        fit_verifier(blank, sources, seed=1, origin="these")
    with pytest.raises(DataError, match="at least 5 sources, there are 3"):
        fit_verifier(responses[:3], sources, seed=1, origin="these")
    clean = [response.model_copy(update={"gold_spans": ()}) for response in responses]
    with pytest.raises(DataError, match="supported and unsupported"):
        fit_verifier(clean, sources, seed=1, origin="these")
