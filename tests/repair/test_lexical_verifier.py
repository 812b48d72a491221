import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from ragmend.datasets.ragtruth import find_files, load_ragtruth
from ragmend.errors import AnswerFaultError, DataError, MissingInputError
from ragmend.records import TASKS, Claim, Evidence, GoldSpan, Response, Source
from ragmend.repair.claims import split_claims
from ragmend.repair.evidence import match_evidence
from ragmend.repair.lexical_features import ClaimFeatures, Commonplaces, claim_features
from ragmend.repair.lexical_fit import dump_parameters, fit_verifier, is_supported
from ragmend.repair.lexical_verifier import (
    LEXICAL_VERIFIER,
    LexicalBackend,
    load_verifier,
    parameters_path,
    score_claims,
    score_texts,
    verify_claims,
)
from ragmend.text.reading import read_source
from ragmend.text.tfidf import Match

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
VERIFIER = load_verifier()
READING = read_source(SOURCE)
EQUAL = Commonplaces(n_answers=10, missing_in={})
texts = st.text(alphabet=st.characters(codec="utf-8"), min_size=1, max_size=60) | st.lists(
    st.sampled_from([*SUPPORTED.split(), *UNSUPPORTED.split(), "not", "passage"]), min_size=1
).map(" ".join)


def claims(*listed):
    return [
        Claim(record_id="r", claim_id=f"c{i}", text=t, start=0, end=len(t), kind="statement")
        for i, t in enumerate(listed)
    ]


def score(*listed):
    own = claims(*listed)
    return score_claims(VERIFIER, READING, own, match_evidence(SOURCE, own, top_k=3))


def features(text, source=SOURCE):
    own = claims(text)
    reading = read_source(source)
    rows = match_evidence(source, own, top_k=3)
    matches = [Match(reading.position_of[row.fragment_id], row.score) for row in rows]
    return claim_features(reading, text, matches, EQUAL)


def test_the_shipped_parameters_have_exactly_the_features_that_the_code_computes():
    stored = json.loads(parameters_path().read_text())
    assert tuple(stored["feature_names"]) == ClaimFeatures._fields == features("Any.")._fields
    for column in ("means", "scales", "coefficients"):
        assert len(stored[column]) == len(ClaimFeatures._fields)


def test_the_shipped_parameters_say_what_they_were_fitted_on():
    fitting = load_verifier().fitting
    assert fitting.training["QA"].n_claims > 20_000
    assert 0 < fitting.training["QA"].n_supported < fitting.training["QA"].n_claims
    assert "no data-to-text" in fitting.note
    assert fitting.development_auc is not None
    assert fitting.development_auc > 0.8


def test_more_evidence_never_lowers_and_more_inventions_never_raise_the_score():
    weights = dict(zip(VERIFIER.feature_names, VERIFIER.coefficients, strict=True))
    for good in ("coverage_best", "coverage_union", "bigram_overlap", "cosine_best"):
        assert weights[good] > 0
    for bad in ("missing_words", "unsupported_numbers", "unsupported_names"):
        assert weights[bad] < 0


def test_a_copied_sentence_is_supported_and_an_invented_one_is_not():
    supported, unsupported = score(SUPPORTED, UNSUPPORTED)
    assert supported > 0.8
    assert unsupported < 0.2


def test_a_changed_number_and_a_changed_name_lower_the_score():
    same, other_number, other_name = score(
        SUPPORTED, SUPPORTED.replace("23.70", "32.70"), SUPPORTED.replace("Alaska", "Nevada")
    )
    assert other_number < same
    assert other_name < same


@pytest.mark.parametrize("heading", ["Hours:", "...", "1.", "In conclusion:", "🙂"])
def test_a_claim_without_evidence_or_content_is_taken_as_supported(heading):
    (p_support,) = score(heading)
    assert 0.5 < p_support <= 1.0


@given(st.lists(texts, min_size=1, max_size=5), st.randoms(use_true_random=False))
def test_scores_are_probabilities_and_move_with_their_claims(listed, random):
    own = claims(*listed)
    evidence = match_evidence(SOURCE, own, top_k=3)
    scores = score_claims(VERIFIER, READING, own, evidence)
    assert all(0.0 <= p <= 1.0 for p in scores)
    order = list(range(len(own)))
    random.shuffle(order)
    shuffled_evidence = list(evidence)
    random.shuffle(shuffled_evidence)
    moved = score_claims(VERIFIER, READING, [own[i] for i in order], shuffled_evidence)
    assert moved == [scores[i] for i in order]


@given(st.lists(texts, min_size=1, max_size=4))
def test_an_unchanged_text_scores_in_pass_2_as_its_claim_did_in_pass_1(listed):
    assert score_texts(VERIFIER, READING, listed) == score(*listed)


def test_evidence_beyond_the_third_row_is_not_looked_at():
    many = Source(source_id="m", task_type="Summary", text=" ".join(["Bread rose fast."] * 6))
    own = claims("Bread rose.")
    three, six = (match_evidence(many, own, top_k=k) for k in (3, 6))
    assert len(six) == 6
    reading = read_source(many)
    assert score_claims(VERIFIER, reading, own, three) == score_claims(VERIFIER, reading, own, six)


def test_evidence_of_another_source_is_refused():
    row = Evidence(
        record_id="r", claim_id="c0", rank=1, fragment_id="p9-s9", text="Elsewhere.", score=0.5
    )
    with pytest.raises(DataError, match=r"record r, claim c0: .*p9-s9"):
        score_claims(VERIFIER, READING, claims(SUPPORTED), [row])


def test_a_score_that_is_not_finite_is_a_fault_and_no_verdict():
    huge = (1e308,) * len(ClaimFeatures._fields)
    broken = VERIFIER.model_copy(update={"coefficients": huge, "scales": (1e-300,) * len(huge)})
    with pytest.raises(AnswerFaultError, match="not a finite number"):
        score_texts(broken, READING, [UNSUPPORTED])


def test_the_backend_gives_one_verdict_a_claim_in_order():
    backend = LexicalBackend()
    own = claims(SUPPORTED, UNSUPPORTED)
    evidence = match_evidence(SOURCE, own, top_k=3)
    verdicts = backend.verify(SOURCE, own, evidence)
    assert verdicts == verify_claims(VERIFIER, READING, own, evidence)
    assert [verdict.claim_id for verdict in verdicts] == ["c0", "c1"]
    assert {verdict.model for verdict in verdicts} == {backend.name} == {LEXICAL_VERIFIER}
    assert backend.score_texts(SOURCE, [SUPPORTED]) == [verdicts[0].p_support]


def test_the_backend_forgets_one_source_for_the_next():
    backend = LexicalBackend()
    other = Source(source_id="q", task_type="Summary", text="Mechanics in Ohio receive pensions.")
    before, after = (backend.score_texts(s, [UNSUPPORTED])[0] for s in (SOURCE, other))
    assert after > before


def test_a_missing_parameter_file_is_named():
    with pytest.raises(MissingInputError, match=r"nowhere\.json"):
        load_verifier(Path("nowhere.json"))


@pytest.mark.parametrize(
    "change",
    [
        {"feature_names": ["length"]},
        {"means": [0.0]},
        {"scales": [0.0] * len(ClaimFeatures._fields)},
        {"intercept": "high"},
        {"format_version": 2},
        {"unknown": 1},
    ],
)
def test_parameters_that_do_not_fit_the_code_are_refused(tmp_path, change):
    path = tmp_path / "parameters.json"
    path.write_text(json.dumps(json.loads(parameters_path().read_text()) | change))
    with pytest.raises(DataError, match="fit them anew"):
        load_verifier(path)


def test_features_measure_what_they_say():
    measured = features("Technicians in Ohio earn $23.70 and 12 %.")
    assert measured.coverage_best == pytest.approx(2 / 3)  # technicians, earn; not Ohio
    assert measured.unsupported_names == pytest.approx(0.6931, abs=1e-4)  # log(1 + 1): Ohio
    assert measured.unsupported_numbers == pytest.approx(0.6931, abs=1e-4)  # log(1 + 1): 12 %
    assert measured.supported_numbers == pytest.approx(0.6931, abs=1e-4)  # log(1 + 1): $23.70
    assert features("Alaska pays no overtime.").unsupported_negation == 0.0  # passage 2 negates
    assert features("Alaska does not pay.").unsupported_negation == 1.0
    assert features("The passages do not name Alaska.").unsupported_negation == 0.0
    assert features("Automotive pensions rise.").asked_share == pytest.approx(1 / 3)


def test_a_common_word_weighs_less_than_a_rare_one():
    weights = Commonplaces(n_answers=99, missing_in={"ensur": 49, "various": 99})
    assert weights.weight("quartz") == 1.0
    assert weights.weight("ensur") == pytest.approx(0.6931 / 4.6052, abs=1e-4)  # log 2 / log 100
    assert weights.weight("various") == 0.0


def gold(start, end, text):
    return GoldSpan(start=start, end=end, text=text[start:end], label_type="Evident Conflict")


def test_one_shared_character_with_a_gold_span_makes_a_claim_unsupported():
    (claim,) = claims("Bread rose.")
    text = "Bread rose. Then it fell."
    assert not is_supported(claim, [gold(10, 16, text)])
    assert is_supported(claim, [gold(11, 16, text)])


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
    for i in range(8):
        source_id = f"s{i}"
        sources[source_id] = SOURCE.model_copy(update={"source_id": source_id})
        text = f"{SUPPORTED} {UNSUPPORTED}"
        responses.append(annotated(f"{i}", source_id, text, [(len(SUPPORTED) + 1, len(text))]))
    return responses, sources


def test_fitting_learns_holds_out_and_repeats_itself():
    responses, sources = training_set()
    development = frozenset({"s0", "s1"})
    fitted = fit_verifier(responses, sources, seed=1, development=development)
    again = fit_verifier(responses[::-1], sources, seed=1, development=development)
    assert fitted.fitting.development_auc == 1.0
    assert fitted.fitting.training["QA"].model_dump() == {
        "n_sources": 6,
        "n_responses": 6,
        "n_claims": 12,
        "n_supported": 6,
    }
    assert fitted.coefficients == pytest.approx(again.coefficients)
    supported, unsupported = score_texts(fitted, READING, [SUPPORTED, UNSUPPORTED])
    assert supported > 0.5 > unsupported
    assert "12 claims of 6 responses to 6 sources" in fitted.describe()


def test_what_was_fitted_survives_the_file(tmp_path):
    responses, sources = training_set()
    fitted = fit_verifier(responses, sources, seed=1, development=frozenset())
    path = tmp_path / "parameters.json"
    path.write_bytes(dump_parameters(fitted))
    assert load_verifier(path) == fitted
    assert fitted.fitting.development_auc is None


def test_fitting_refuses_what_is_not_annotated_or_all_alike():
    responses, sources = training_set()
    blank = [responses[0].model_copy(update={"gold_spans": None})]
    with pytest.raises(DataError, match="record 0: not annotated"):
        fit_verifier(blank, sources, seed=1, development=frozenset())
    clean = [responses[0].model_copy(update={"gold_spans": ()})]
    with pytest.raises(DataError, match="not held out"):
        fit_verifier(responses, sources, seed=1, development=frozenset(sources))
    with pytest.raises(DataError, match="supported and unsupported"):
        fit_verifier(clean, sources, seed=1, development=frozenset())


def test_every_claim_of_real_answers_gets_a_probability_and_the_order_is_useful(real_data):
    files = find_files(real_data / "ragtruth", "train")
    data = load_ragtruth(files, split="train", tasks=TASKS)
    backend, supported, scores = LexicalBackend(), [], []
    for response in data.responses[::10]:
        source = data.sources[response.source_id]
        own = split_claims(response.text, record_id=response.record_id)
        rows = match_evidence(source, own, top_k=3)
        scores += [verdict.p_support for verdict in backend.verify(source, own, rows)]
        supported += [is_supported(claim, response.gold_spans) for claim in own]
    assert roc_auc_score(supported, scores) > 0.8
