from ragmend.judges.numbers_names import find_foreign_numbers_and_names
from ragmend.records import Source
from ragmend.text.reading import read_source

READING = read_source(
    Source(
        source_id="s",
        task_type="QA",
        text="passage 1:Paul Kruse paid $50 on March 26, at 9 am.",
        question="What did Blue Bell pay in 2015?",
    )
)


def found(answer):
    return [span.text for span in find_foreign_numbers_and_names(READING, answer)]


def test_what_source_or_question_states_is_let_pass():
    assert found("Kruse of Blue Bell paid 50 dollars on 26 March 2015 at 9:00.") == []


def test_each_foreign_number_date_time_and_name_is_a_span_of_its_own():
    answer = "Then Paul Kruse and Ann Lee paid $15 on March 27 at 9 pm."
    assert found(answer) == ["Ann Lee", "$15", "March 27", "9 pm"]


def test_a_number_inside_a_foreign_name_is_reported_once():
    assert found("They flew with Apollo 13 there.") in (["Apollo 13"], ["Apollo", "13"])
