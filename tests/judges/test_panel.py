import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmend.judges.judging import Found, judge_answer
from ragmend.judges.panel import JUDGES, EmbeddedJudge
from ragmend.records import Source

SOURCE = Source(
    source_id="s",
    task_type="QA",
    text="passage 1:The plant in Oklahoma closed in April 2014 after 5 people fell ill.",
    question="Why did Blue Bell close the plant?",
)
EMBEDDED = {name: EmbeddedJudge(name) for name in JUDGES}
FAITHFUL = "The plant in Oklahoma closed in April 2014."
INVENTED = "Regulators imposed severe penalties worth $900 upon executives from Boston."


def judge(name, answer, condition="original", judge=None):
    judging = judge_answer(
        judge or EMBEDDED[name],
        SOURCE,
        name=name,
        record_id="1",
        condition=condition,
        answer=answer,
    )
    return asyncio.run(judging)


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
    judgement = judge(name, answer, condition="removal", judge=EmbeddedJudge(name))
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
    conditions = ("original", "removal", "generative")
    spans = {judge(name, answer, condition=condition).spans for condition in conditions}
    assert len(spans) == 1


class Naming:
    """A judge that names what it was told to."""

    def __init__(self, *unlocated):
        self.unlocated = unlocated

    async def find(self, source, answer):
        return Found((), self.unlocated, raw="as it came", left_out_fragments=2)


@pytest.mark.parametrize(("unlocated", "label"), [((), 0), (("not there",), 1)])
def test_what_a_judge_names_counts_for_the_label_whether_it_is_found_or_not(unlocated, label):
    judgement = judge("named", FAITHFUL, judge=Naming(*unlocated))
    assert (judgement.label, judgement.spans, judgement.unlocated) == (label, (), unlocated)
    assert (judgement.raw, judgement.left_out_fragments) == ("as it came", 2)
