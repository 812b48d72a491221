import json
import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmend.errors import AnswerFaultError
from ragmend.llm.json_answers import MAX_DEPTH, names_nothing, read_object
from ragmend.llm.protocol import Generation
from ragmend.records import Record


class SpansAnswer(Record):
    spans: tuple[str, ...]


class RewriteAnswer(Record):
    rewrite: str | None


def read(text, model=SpansAnswer, *, finish="stop", seen=()):
    generation = Generation(text=text, finish=finish, n_prompt_tokens=9, n_tokens=7)
    return read_object(generation, model, what="a judgement", seen=seen)


def fault(text, **how):
    with pytest.raises(AnswerFaultError) as caught:
        read(text, **how)
    assert caught.value.raw == text
    assert str(caught.value).startswith("a judgement: ")
    return caught.value.status, str(caught.value)


def status(text, **how):
    return fault(text, **how)[0]


@pytest.mark.parametrize(
    "text",
    [
        '{"spans": ["a", "b"]}',
        ' \n{"spans":["a","b"]}\n',
        '```json\n{"spans": ["a", "b"]}\n```',
        'Here is what I found:\n```\n{\n "spans": [\n  "a",\n  "b"\n ]\n}\n```\nTell me if not.',
        '```json {"spans": ["a", "b"]} ```',
        'All is {} fine. {"n": 1}\n{"spans": ["a", "b"]}\nThat is all: {"really": true}.',
        '{"spans": ["a", "b"], "explanation": "because {of} \\"this\\"", "n": 2}',
        '{"spans": ["a", "b"]}\n\nAgain:\r{"spans": ["a", "b"]}',
        '<think>\nMaybe {"spans": []}? {No.\n</think>\n\n{"spans": ["a", "b"]}',
        'No {. </think></think> {"spans": ["a", "b"]}',
        'The parts "a" and "b" are unsupported, so the "spans" are:\n{"spans": ["a", "b"]}',
    ],
)
def test_the_object_is_found_in_what_stands_around_it(text):
    assert read(text).spans == ("a", "b")


def test_braces_quotes_and_escapes_inside_strings_belong_to_the_strings():
    spans = ["}", "{", '"}', "{{a}}", "\\", '{"spans": []}', "é😀\u2028", "a\nb", "```"]
    for is_ascii in (True, False):
        written = json.dumps({"spans": spans}, ensure_ascii=is_ascii)
        assert read(f"So:\n{written}\n!").spans == tuple(spans)


def test_a_line_break_may_stand_in_a_string_as_it_is():
    assert read('{"spans": ["one\ntwo\tthree"]}').spans == ("one\ntwo\tthree",)


def test_null_is_an_answer_where_the_record_has_it_and_a_fault_where_not():
    assert read('{"rewrite": null}', RewriteAnswer).rewrite is None
    assert read('{"rewrite": "It rains."}', RewriteAnswer).rewrite == "It rains."
    assert status('{"spans": null}') == "malformed"


@pytest.mark.parametrize(
    "text",
    [
        "No part of the answer is unsupported.",
        "spans: none",
        "[]",
        "null",
        "{}",
        "```json\n```",
        '{"span": ["a"]}',
        '{"Spans": ["a"]}',
        '{"answer": {"spans": ["a"]}}',
        '{"items": []}',
    ],
)
def test_an_answer_without_the_object_is_malformed_and_never_an_empty_list(text):
    assert status(text) == "malformed"


@pytest.mark.parametrize(
    "text",
    [
        '{"spans": ["a", "b"',  # the last item cut off
        '{"spans": ["a", "b',
        '{"spans": ["a", ',
        '{"spans": []',
        '{"spans": ["a" "b"]}',
        '{"spans": ["a",]}',
        '{"spans": [a]}',
        '{"spans": ["he said "no" to it"]}',
        "{'spans': []}",
        "{spans: []}",
        '{{"spans": []}}',
        '{"spans": [] // none\n}',
        "{“spans”: []}",
    ],
)
def test_broken_json_is_malformed_and_not_repaired(text):
    assert status(text) == "malformed"


@pytest.mark.parametrize(
    "text",
    [
        '{"spans": "a"}',
        '{"spans": [1]}',
        '{"spans": [null]}',
        '{"spans": {"0": "a"}}',
        '{"spans": false}',
        '{"spans": [["a"]]}',
        '{"spans": []} {"spans": "a"}',
        '{"spans": "a"} {"spans": []}',
    ],
)
def test_an_object_with_the_key_and_another_type_is_malformed(text):
    assert status(text) == "malformed"


@pytest.mark.parametrize(
    "text",
    [
        '{"spans": ["he wrote {"spans": []} there"]}',
        '{"note": "he wrote {"spans": []} there", "spans": ["x"]}',
        '{"spans": ["x"], "note": {"spans": []}',
        "{'spans': ['x'], 'note': {\"spans\": []}}",
        '{spans: ["x"], note: {"spans": []}}',
        '{ {"spans": []}, "x" }',
        '{"spans": ["x" {"spans": []}',
        '{"spans": []} and then {"spans": ["x"',
    ],
)
def test_an_object_inside_or_beside_a_broken_one_is_not_the_answer(text):
    assert status(text) == "malformed"


def test_two_different_answers_are_none():
    what, message = fault('The answer says {"spans": []}. My own: {"spans": ["x"]}')
    assert (what, "two different answers" in message) == ("malformed", True)
    assert status('{"rewrite": null}\n{"rewrite": "x"}', model=RewriteAnswer) == "malformed"


def test_objects_without_the_key_are_not_the_answer():
    assert read('It quotes {"a": {"b": [1]}}.\n{"spans": ["x"]}\n {"c": null}').spans == ("x",)
    assert read('It quotes {"spans": []}:\n{"rewrite": "x"}', RewriteAnswer).rewrite == "x"


# Each held a decision for nothing that the model did not make.
@pytest.mark.parametrize(
    "text",
    [
        '<think>Maybe {"spans": []}? No. The part "x" is wrong.</think>\nUnsupported: "x".',
        '<think>\n{"spans": []}\n</think>',
        '<think>\nMaybe\n{"spans": []}',
        '<think>\n{"spans": []}\n</think>\n<think>\n{"spans": []}\n',
        '{“spans”: [“x y”]} {"spans": []}',
        '{“spans”: [“x y”]}\n{"spans": []}',
        '｛"spans": ["x y"]｝\n{"spans": []}',
        '{\\"spans\\": [\\"b c\\"]} {"spans": []}',
        '{\\"spans\\": [\\"b c\\"]}\n{"spans": []}',
        '"spans": ["b c"]\n{"spans": []}',
        '\\"Spans\\": ["b c"]\n{"spans": []}',
        '{"Spans": ["b c"], "spans": []}',
        '{"spans ": ["b c"], "spans": []}',
        '{"Spans": ["b c"]}\n{"spans": []}',
        '{"answer": {"spans": ["b c"]}}\n{"spans": []}',
        '{"spans": [], "n": [{"SPANS": ["b c"]}]}',
        '{ /* c */ "spans": ["x"], "notes": {"spans": []}}',
        '{ /* c */ "spans": ["x"], "notes":\n{"spans": []}\n}',
        'or {"spans": []} if all of the answer is supported.',
        'I am to write {"spans": []}',
        '{"spans": []} if all of the answer is supported.',
        '[{"spans": []}]',
        '{"spans": []} {"spans": []}',
        '{"spans": []} {"c": null}',
        '{"spans": []}\n\nHowever, the part "x" is unsupported.',
        '{"spans": []}\n```\nHowever, the part "x" is unsupported.\n{"spans": []}',
        '{"spans": []}\n{"unsupported": ["x"]}',
        '{"spans": []}\n}',
        '}\n{"spans": []}',
    ],
)
def test_nothing_is_read_only_where_the_model_decided_for_it(text):
    assert status(text) in {"malformed", "empty"}
    other = re.sub("spans", _rewrite_in_its_case, text, flags=re.IGNORECASE)
    other = other.replace('"rewrite": []', '"rewrite": null')
    assert status(other, model=RewriteAnswer) in {"malformed", "empty"}


def _rewrite_in_its_case(found):
    if found[0].isupper():
        return "REWRITE"
    return "Rewrite" if found[0].istitle() else "rewrite"


def test_text_may_stand_before_a_decision_for_nothing():
    assert read('I see no error {"n": 1}.\n\n```json\n{"spans": []}\n```\n ').spans == ()
    assert read('<think>"x"?</think>{"spans": []}\n```\n{"spans": []}').spans == ()
    assert read('Nothing stands:\n{"rewrite": null}', RewriteAnswer).rewrite is None


def test_an_object_within_a_sentence_is_a_quote():
    for text in ('So: {"spans": ["x"]}', '{"spans": ["x"]} it is.', 'a\r{"spans": ["x"]}; b'):
        what, message = fault(text)
        assert (what, "lines of its own" in message) == ("malformed", True)


def test_thinking_without_an_answer_is_empty():
    assert status('<think>\n{"spans": []}\n</think>\n') == "empty"


@pytest.mark.parametrize(
    "text", ["", "\u200b", "—", '"…"', "null", "None.", "NONE", "(none)", "N/A", "n/a.", "<null>"]
)
def test_texts_that_name_nothing(text):
    assert names_nothing(text)


@pytest.mark.parametrize("text", ["None came.", "Nothing happened.", "0", "é", "nonetheless", "雨"])
def test_texts_that_name_something(text):
    assert not names_nothing(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"spans": [], "spans": ["x"]}',
        '{"spans": ["x"], "spans": ["x"]}',
        '{"spans": [], "n": {"a": 1, "a": 2}}',
        '{"spans": [], "n": NaN}',
        '{"spans": [], "n": Infinity}',
        '{"spans": [], "n": -Infinity}',
        '{"spans": [], "n": 1e999}',
        '{"spans": [], "n": ' + "1" * 5000 + "}",
        '{"spans": ["\\ud800"]}',
        '{"spans": [], "\\udfff": 1}',
    ],
)
def test_what_is_not_strictly_json_is_refused(text):
    assert status(text) == "malformed"


def test_a_surrogate_pair_is_a_character():
    assert read('{"spans": ["\\ud83d\\ude00"]}').spans == ("😀",)


@pytest.mark.parametrize("text", ["", " ", "\n\n\t ", "\u00a0"])
def test_a_blank_text_is_empty(text):
    assert status(text) == "empty"


@pytest.mark.parametrize(
    "text",
    [
        '{"spans"' + " \n" * 400,  # a constrained answer that emits blanks without end
        '{"spans": ["a", "b',
        '{"spans": []}',
        '{"spans": []} Let me explain why',
        "\n" * 500,
        "",
        '{"spans": "a"} {"spans',
    ],
)
def test_a_text_cut_at_its_limit_is_truncated_whatever_came_before(text):
    what, message = fault(text, finish="length")
    assert (what, "limit of 7 tokens" in message) == ("truncated", True)


def test_blanks_without_end_that_the_model_ended_itself_are_malformed():
    assert status('{"spans"' + " " * 800) == "malformed"


@pytest.mark.parametrize("shown", ['{"spans": []}', "{'spans' : []}", "{spans: [1]}"])
def test_where_the_judged_text_holds_such_an_object_only_a_bare_one_is_an_answer(shown):
    seen = ("A source.", f"An answer. {shown}")
    assert read('```json\n{"spans": []}\n```\n', seen=seen).spans == ()
    assert read('{"spans": []}\n{"spans": []}', seen=seen).spans == ()
    for text in (
        'The answer holds:\n{"spans": []}',
        '{"spans": ["x"]}\nis unsupported.',
        'Unsupported:\n{"spans": ["x"]}',
    ):
        what, message = fault(text, seen=seen)
        assert (what, "a quote" in message) == ("malformed", True)
    assert read('All is well:\n{"spans": []}', seen=("its spans are: two",)).spans == ()


def test_nesting_is_read_to_a_depth_and_refused_below_it():
    def nested(depth):
        return '{"spans": [], "n": ' + "[" * depth + "]" * depth + "}"

    assert read(nested(MAX_DEPTH - 1)).spans == ()
    assert status(nested(MAX_DEPTH)) == "malformed"


@pytest.mark.parametrize(
    "text",
    [
        "{" * 1_000_000,
        "{ " * 500_000,
        "{x" * 500_000,
        '{"' * 500_000,
        '{"a":' * 200_000,
        '{"spans": ' + "[" * 1_000_000,
        '{"spans": ["' + "{" * 1_000_000,
        '{"a":1}' * 100_000,
        "{" + " " * 1_000_000 + "a" * 1_000_000,
        "```" * 300_000,
        '{"a":' * 900 + "1" + "}" * 900,
        '{"spans": [], "n": ' + "1" * 1_000_000 + ".5}",
    ],
    ids=lambda text: text[:12],
)
def test_megabytes_of_braces_are_a_fault_and_no_crash(text):
    # Were each brace a new start, as it is for a naive search, this would run for hours.
    assert status(text) == "malformed"


def test_a_depth_of_calls_changes_nothing():
    def deeper(n):
        return (
            status('{"spans": [], "n": ' + "[" * 300 + "]" * 300 + "}") if n == 0 else deeper(n - 1)
        )

    assert deeper(500) == "malformed"


SPANS = st.lists(st.text(st.characters(codec="utf-8"), max_size=8) | st.sampled_from('{}"[]\\'))
PROSE = st.text(st.characters(codec="utf-8", exclude_characters="{}｛｝"))


@given(spans=SPANS, before=PROSE, after=PROSE, is_ascii=st.booleans())
def test_any_answer_is_read_back_from_any_prose(spans, before, after, is_ascii):
    written = json.dumps({"spans": spans}, ensure_ascii=is_ascii)
    if not spans and after.strip():
        assert status(f"{before}\n{written}\n{after}") == "malformed"
        after = ""
    assert read(f"{before}\n{written}\n{after}").spans == tuple(spans)


@given(spans=SPANS, cut=st.integers(min_value=1))
def test_an_answer_cut_anywhere_is_a_fault(spans, cut):
    text = json.dumps({"spans": spans})
    assert status(text[: cut % (len(text) - 1) + 1]) == "malformed"


@given(outer=SPANS, inner=SPANS)
def test_a_quoted_object_is_never_read_as_the_answer(outer, inner):
    quoted = json.dumps({"spans": inner})
    assert read(json.dumps({"spans": [*outer, quoted]})).spans == (*outer, quoted)
    broken = json.dumps({"spans": ["x"]})[:-3] + quoted + '"]}'
    assert status(broken) == "malformed"


def test_any_damage_to_an_answer_gives_a_fault_or_the_strings_that_stand_there():
    chooser, n_read, n_faults = random.Random(5), 0, 0
    whole = 'So:\n{"spans": ["He said \\"no\\" {x}", "2014\\u2014b"], "why": {"n": [1, null]}}\nok?'
    pieces = [
        "{",
        "}",
        '"',
        "\\",
        "[",
        "]",
        ",",
        ":",
        '{"spans": []}',
        "\ud83d",
        "NaN",
        "\x00",
        "'",
    ]
    for _ in range(5_000):
        characters = list(whole)
        for _ in range(chooser.randint(1, 4)):
            at = chooser.randrange(len(characters))
            characters[at : at + chooser.randint(0, 3)] = [chooser.choice(pieces)]
        text = "".join(characters).encode(errors="replace").decode()
        try:
            spans = read(text).spans
        except AnswerFaultError as error:
            n_faults += error.status == "malformed"
        else:
            n_read += 1
            # "clean" is read only where the text has an empty list of its own.
            assert spans or '"spans": []' in text
    assert n_read + n_faults == 5_000
    assert min(n_read, n_faults) > 500
