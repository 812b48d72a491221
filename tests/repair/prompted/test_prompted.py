"""Verifier and rewriter played by a scripted model: what they ask, and how they read it."""

import asyncio
import json
import math
from functools import partial

import pytest

from ragmend.errors import AnswerFaultError
from ragmend.llm.labels import read_support
from ragmend.llm.protocol import NEGATIVE_INFINITY, Sampling
from ragmend.llm.scripted import ScriptedLLM
from ragmend.records import Claim, Evidence, Source
from ragmend.repair.prompted.rewriter import SCHEMA, PromptedRewriter
from ragmend.repair.prompted.verifier import PromptedVerifier

SOURCE = Source(source_id="s", task_type="Summary", text="The bridge was closed. It rained.")
ANSWER = "The bridge was closed. It snowed."


def claim(number, text):
    return Claim(
        record_id="r",
        claim_id=f"r-{number}",
        text=text,
        start=100 * number,
        end=100 * number + len(text),
        kind="statement",
    )


CLAIMS = [claim(0, "The bridge was closed."), claim(1, "It snowed.")]


class Scripted:
    """Answers by the claim that stands in the prompt, and keeps the prompts."""

    def __init__(self, scores=None, text=""):
        self.given, self.answer, self.prompts = scores or {}, text, []

    def scores(self, prompt):
        self.prompts.append(prompt)
        (answer,) = (each for claim, each in self.given.items() if _asks_about(prompt, claim))
        if isinstance(answer, Exception):
            raise answer
        return {form: math.log(p) if p else NEGATIVE_INFINITY for form, p in answer.items()}

    def text(self, prompt):
        self.prompts.append(prompt)
        return self.answer

    def llm(self, **more):
        return ScriptedLLM(self.scores, self.text, "the model", **more)


def _asks_about(prompt, claim):
    return f"<claim>\n{claim}\n</claim>" in prompt.user


def verifier(scripted, **more):
    read = partial(read_support, scoring="two-token", min_mass=0.5)
    return PromptedVerifier(scripted.llm(**more), read=read)


def test_every_claim_is_asked_about_with_the_whole_source_before_it():
    scripted = Scripted(
        {"The bridge was closed.": {"Yes": 0.6, "No": 0.2}, "It snowed.": {"Yes": 0.1, "No": 0.7}}
    )
    verdicts = asyncio.run(verifier(scripted).verify(SOURCE, ANSWER, CLAIMS, []))
    assert [v.claim_id for v in verdicts] == ["r-0", "r-1"]
    assert [v.p_support for v in verdicts] == pytest.approx([0.75, 0.125])
    assert [v.candidate_mass for v in verdicts] == pytest.approx([0.8, 0.8])
    assert verdicts[0].form_probs == pytest.approx({"Yes": 0.6, "No": 0.2})
    assert {v.model for v in verdicts} == {"the model"}
    users = [prompt.user for prompt in scripted.prompts]
    shared = "<source>\nThe bridge was closed. It rained.\n</source>\n\n<claim>\n"
    assert all(user.startswith(shared) for user in users)
    assert len({prompt.system for prompt in scripted.prompts}) == 1


def test_pass_two_asks_about_edited_texts_with_the_same_prompt():
    scripted = Scripted({"It rained.": {"Yes": 0.9, "No": 0.05}})
    (support,) = asyncio.run(verifier(scripted).score_texts(SOURCE, ANSWER, ["It rained."]))
    assert support.p == pytest.approx(0.9 / 0.95)
    assert support.mass == pytest.approx(0.95)


def test_nothing_is_asked_about_no_claims():
    scripted = Scripted()
    assert asyncio.run(verifier(scripted).verify(SOURCE, ANSWER, [], [])) == []
    assert asyncio.run(verifier(scripted).score_texts(SOURCE, ANSWER, [])) == []
    assert scripted.prompts == []


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        ({"Yes": 0.2, "No": 0.2}, "low_mass"),
        ({"Yes": 0.0, "No": 0.0}, "non_finite"),
        ({"Yes": 0.9}, "empty"),
        (AnswerFaultError("no answer in time", status="timeout"), "timeout"),
    ],
)
def test_a_claim_without_a_usable_answer_is_a_fault_that_names_it(answer, status):
    scripted = Scripted({"The bridge was closed.": {"Yes": 0.6, "No": 0.2}, "It snowed.": answer})
    with pytest.raises(AnswerFaultError) as caught:
        asyncio.run(verifier(scripted).verify(SOURCE, ANSWER, CLAIMS, []))
    assert (caught.value.status, caught.value.claim_id) == (status, "r-1")
    assert len(scripted.prompts) == 2  # the other one was asked all the same


def test_a_source_too_long_is_shortened_alike_for_all_claims_and_that_is_recorded():
    long = Source(
        source_id="s",
        task_type="Summary",
        text="The bridge was closed. "
        + " ".join(f"Nothing happened on day {n}." for n in range(400)),
    )
    given = {each.text: {"Yes": 0.6, "No": 0.2} for each in CLAIMS}
    scripted = Scripted(given)
    short = verifier(scripted, context_length=900)
    verdicts = asyncio.run(short.verify(long, ANSWER, CLAIMS, []))
    (left_out,) = {v.left_out_fragments for v in verdicts}
    assert 0 < left_out < 401
    before = {prompt.user.partition("<claim>")[0] for prompt in scripted.prompts}
    assert len(before) == 1
    assert "The bridge was closed." in before.pop()


ROWS = [
    Evidence(record_id="r", claim_id="r-1", rank=1, fragment_id="s1", text="It rained.", score=0.5)
]


def rewriter(scripted, context="fragments-and-source", **sampling):
    how = Sampling(**({"max_tokens": 256} | sampling))
    return PromptedRewriter(scripted.llm(), context=context, sampling=how)


def rewrite(scripted, **more):
    return asyncio.run(rewriter(scripted, **more).rewrite(SOURCE, ANSWER, CLAIMS[1], ROWS))


@pytest.mark.parametrize("context", ["fragments-and-source", "fragments"])
def test_the_rewriter_sees_claim_and_fragments_and_the_source_if_it_is_to(context):
    scripted = Scripted(text='{"rewrite": "It rained."}')
    assert rewrite(scripted, context=context).text == "It rained."
    (prompt,) = scripted.prompts
    assert "<claim>\nIt snowed.\n</claim>" in prompt.user
    assert "<fragments>\n- It rained.\n</fragments>" in prompt.user
    assert ("<source>" in prompt.user) == (context == "fragments-and-source")


def test_a_rewrite_of_null_says_that_nothing_is_supported():
    found = rewrite(Scripted(text='{"rewrite": null}'))
    assert (found.text, found.model, found.raw) == (None, "the model", '{"rewrite": null}')


def test_a_rewrite_is_one_line():
    assert rewrite(Scripted(text='{"rewrite": " It\\n rained. "}')).text == "It rained."


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("It rained.", "malformed"),
        ('{"rewrite": ""}', "malformed"),
        ('{"rewrite": " \\n"}', "malformed"),
        ('{"rewrite": ["It rained."]}', "malformed"),
        ('{"rewritten": "It rained."}', "malformed"),
        ("", "empty"),
        ('{"rewrite": "' + "x" * 2000 + '"}', "truncated"),
    ],
)
def test_what_is_no_rewrite_is_a_fault_and_never_nothing_supported(text, status):
    with pytest.raises(AnswerFaultError) as caught:
        rewrite(Scripted(text=text))
    assert (caught.value.status, caught.value.claim_id) == (status, "r-1")


@pytest.mark.parametrize(
    "said",
    [
        "null", "None", "none.", "N/A", "n/a.", "-", "(none)", "(None).", "\u200b", "nothing",
        "Nothing.", "…", "[…]", "?!",
    ],
)  # fmt: skip
def test_a_sentence_that_says_nothing_is_no_rewrite(said):
    with pytest.raises(AnswerFaultError, match="expected a sentence as the rewrite") as caught:
        rewrite(Scripted(text=json.dumps({"rewrite": said})))
    assert (caught.value.status, caught.value.claim_id) == ("malformed", "r-1")


@pytest.mark.parametrize("mark", ["[…]", "[...]"])
def test_the_mark_of_left_out_text_is_in_a_rewrite_only_if_the_claim_has_it(mark):
    scripted = Scripted(text=json.dumps({"rewrite": f"It rained {mark} there."}))
    with pytest.raises(AnswerFaultError) as caught:
        rewrite(scripted)
    assert caught.value.status == "malformed"
    marked = claim(1, "It snowed […] there.")
    found = asyncio.run(rewriter(scripted).rewrite(SOURCE, ANSWER, marked, ROWS))
    assert found.text == f"It rained {mark} there."


def test_a_schema_is_passed_on_to_the_model():
    asked = []

    class Keeping(ScriptedLLM):
        async def generate(self, prompt, sampling):
            asked.append(sampling)
            return await super().generate(prompt, sampling)

    scripted = Scripted(text='{"rewrite": null}')
    llm = Keeping(scripted.scores, scripted.text)
    how = Sampling(max_tokens=256, schema=SCHEMA)
    part = PromptedRewriter(llm, context="fragments", sampling=how)
    asyncio.run(part.rewrite(SOURCE, ANSWER, CLAIMS[1], ROWS))
    assert asked == [how]
