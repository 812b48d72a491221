import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmend.records import Claim, Source
from ragmend.repair.evidence import match_evidence

NEWS = Source(
    source_id="s",
    task_type="Summary",
    text="The plant closed in April. The plant opened in May. Nobody was hurt at the plant.",
)
VOCABULARY = "plant closed opened April May nobody hurt river ice cream 4 the of".split()
claim_texts = st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=8).map(" ".join)


def claims(*texts, record_id="r"):
    return [
        Claim(
            record_id=record_id,
            claim_id=f"c{i}",
            text=text,
            start=0,
            end=len(text),
            kind="statement",
        )
        for i, text in enumerate(texts)
    ]


def test_the_nearest_fragment_ranks_first():
    rows = match_evidence(NEWS, claims("It closed in April."), top_k=2)
    assert [(row.rank, row.fragment_id) for row in rows] == [(1, "s0")]
    assert rows[0].text == "The plant closed in April."
    assert 0 < rows[0].score < 1


def test_a_claim_that_shares_no_word_has_no_evidence():
    assert match_evidence(NEWS, claims("Rivers flood."), top_k=3) == []


def test_a_claim_equal_to_a_fragment_has_cosine_1():
    (row, *_) = match_evidence(NEWS, claims("The plant opened in May."), top_k=1)
    assert row.score == 1.0


def test_equal_scores_rank_in_the_order_of_the_source():
    twins = Source(source_id="t", task_type="Summary", text="Bread rose. Bread rose. Bread rose.")
    rows = match_evidence(twins, claims("Bread rose"), top_k=3)
    assert [row.fragment_id for row in rows] == ["s0", "s1", "s2"]
    assert len({row.score for row in rows}) == 1


def test_an_unknown_field_is_offered_and_says_that_it_is_unknown():
    fields = {"name": "Tinker's", "attributes": {"Music": None, "WiFi": "no"}}
    source = Source(source_id="d", task_type="Data2txt", fields=fields)
    (row,) = match_evidence(source, claims("It plays live music."), top_k=3)
    assert (row.fragment_id, row.text) == ("f-attributes.Music", "music: unknown")


def test_a_source_without_words_offers_nothing():
    empty = Source(source_id="e", task_type="Summary", text=" … ")
    assert match_evidence(empty, claims("The plant closed."), top_k=3) == []


def test_top_k_under_1_is_refused():
    with pytest.raises(ValueError, match="at least 1"):
        match_evidence(NEWS, claims("The plant closed."), top_k=0)


@given(st.lists(claim_texts, min_size=1, max_size=6), st.integers(1, 4))
def test_rows_are_ranked_positive_and_at_most_top_k_each(texts, top_k):
    rows = match_evidence(NEWS, claims(*texts), top_k=top_k)
    for i in range(len(texts)):
        own = [row for row in rows if row.claim_id == f"c{i}"]
        assert [row.rank for row in own] == list(range(1, len(own) + 1))
        assert len(own) <= top_k
        assert all(0 < row.score <= 1 for row in own)
        assert [row.score for row in own] == sorted((row.score for row in own), reverse=True)


@given(st.lists(claim_texts, min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_a_claims_evidence_depends_on_no_other_claim(texts, random):
    own = claims(*texts)
    shuffled = list(own)
    random.shuffle(shuffled)
    together = match_evidence(NEWS, own, top_k=2)
    assert match_evidence(NEWS, own, top_k=2) == together
    assert sorted(match_evidence(NEWS, shuffled, top_k=2), key=lambda row: row.claim_id) == together
    alone = [row for claim in own for row in match_evidence(NEWS, [claim], top_k=2)]
    assert alone == together


# Fragments that are made of others.

STORY = Source(
    source_id="w",
    task_type="QA",
    text="passage 1:Bread rose early. Prices fell late.\n\npassage 2:Rivers froze.",
    question="Did Margaret Holt sell 512 loaves?",
)


def test_a_claim_that_draws_on_two_sentences_finds_their_window():
    (row, *rest) = match_evidence(STORY, claims("Bread rose, prices fell."), top_k=3, window=2)
    assert (row.fragment_id, row.text) == ("p1-s0+s1", "Bread rose early. Prices fell late.")
    assert rest == []


def test_no_two_rows_of_a_claim_share_a_sentence():
    rows = match_evidence(STORY, claims("Bread rose early."), top_k=3, window=3)
    assert [row.fragment_id for row in rows] == ["p1-s0"]


def test_a_sentence_scores_the_same_whatever_the_window():
    for window in (1, 2, 3):
        rows = match_evidence(STORY, claims("Rivers froze early."), top_k=1, window=window)
        assert [(row.fragment_id, row.score) for row in rows] == [
            ("p2-s0", pytest.approx(0.8165, abs=1e-4))
        ]


def test_what_one_field_says_twice_is_offered_once():
    hours = dict.fromkeys("Monday Tuesday Wednesday Thursday Friday".split(), "9:0-17:0")
    fields = {"hours": hours, "attributes": {"WiFi": "free"}}
    source = Source(source_id="d", task_type="Data2txt", fields=fields)
    text = "It is open on weekdays from 9 am to 5 pm with free WiFi."
    rows = match_evidence(source, claims(text), top_k=3)
    assert [row.text for row in rows] == ["open on weekdays 9 am to 5 pm", "free WiFi"]


def test_the_question_is_no_evidence():
    rows = match_evidence(STORY, claims("Margaret Holt sold 512 loaves of bread."), top_k=3)
    assert [row.fragment_id for row in rows] == ["p1-s0"]


@given(st.lists(claim_texts, min_size=1, max_size=4), st.integers(1, 4), st.integers(2, 3))
def test_rows_of_windows_are_ranked_and_disjoint(texts, top_k, window):
    rows = match_evidence(NEWS, claims(*texts), top_k=top_k, window=window)
    for i in range(len(texts)):
        own = [row for row in rows if row.claim_id == f"c{i}"]
        assert [row.rank for row in own] == list(range(1, len(own) + 1))
        assert len(own) <= top_k
        assert [row.score for row in own] == sorted((row.score for row in own), reverse=True)
        sentences = [part for row in own for part in row.fragment_id.split("+")]
        assert len(set(sentences)) == len(sentences)
