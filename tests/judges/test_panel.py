import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmend.judges.panel import JUDGES, judge_answer
from ragmend.records import Source
from ragmend.text.reading import read_source

SOURCE = Source(
    source_id="s",
    task_type="QA",
    text="passage 1:The plant in Oklahoma closed in April 2014 after 5 people fell ill.",
    question="Why did Blue Bell close the plant?",
)
READING = read_source(SOURCE)
FAITHFUL = "The plant in Oklahoma closed in April 2014."
INVENTED = "Regulators imposed severe penalties worth $900 upon executives from Boston."


def judge(name, answer):
    return judge_answer(name, READING, record_id="1", condition="original", answer=answer)


def test_the_panel_has_three_judges():
    assert list(JUDGES) == ["overlap", "numbers-names", "sentence-support"]


@pytest.mark.parametrize("name", JUDGES)
def test_a_copied_answer_is_clean(name):
    judgement = judge(name, FAITHFUL)
    assert (judgement.label, judgement.spans, judgement.status) == (0, (), "ok")
    assert judgement.judge == name


@pytest.mark.parametrize("name", JUDGES)
def test_an_invented_sentence_is_found_where_it_stands(name):
    answer = f"{FAITHFUL} {INVENTED}"
    judgement = judge(name, answer)
    assert judgement.label == 1
    assert all(span.start > len(FAITHFUL) for span in judgement.spans)


@pytest.mark.parametrize("name", JUDGES)
def test_an_empty_answer_is_not_judged_and_not_hallucinatory(name):
    for answer in ("", " \n"):
        judgement = judge(name, answer)
        assert judgement.status == "empty_answer"
    assert (judgement.label, judgement.spans, judgement.status) == (0, (), "empty_answer")


@pytest.mark.parametrize("name", JUDGES)
@given(answer=st.text(alphabet=st.characters(codec="utf-8"), min_size=1) | st.just(INVENTED))
def test_spans_are_exact_ordered_and_disjoint_and_the_label_follows_them(name, answer):
    reading = read_source(SOURCE)
    judgement = judge_answer(name, reading, record_id="1", condition="removal", answer=answer)
    position = 0
    for span in judgement.spans:
        assert position <= span.start
        assert answer[span.start : span.end] == span.text
        position = span.end
    assert judgement.label == bool(judgement.spans)
    assert judge(name, answer).spans == judgement.spans


@pytest.mark.parametrize("name", JUDGES)
def test_the_condition_does_not_sway_a_judge(name):
    answer = f"{FAITHFUL} {INVENTED}"
    spans = {
        judge_answer(name, READING, record_id="1", condition=condition, answer=answer).spans
        for condition in ("original", "removal", "generative")
    }
    assert len(spans) == 1
