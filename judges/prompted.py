"""A judge played by a language model, which copies out what of an answer is unsupported.

It sees the source, its question and the complete answer: neither condition nor arm, neither gold
nor another answer. All language models get the same prompt.

Source: Mulakkayala, van Stein, Plaat (arXiv 2608.29307), section 3.4.
"""

import re
from collections.abc import Mapping
from typing import Literal, NamedTuple

from pydantic import JsonValue

from ragmend.errors import AnswerFaultError
from ragmend.judges.judging import Found
from ragmend.llm.fitting import fit_source
from ragmend.llm.json_answers import names_nothing, read_object
from ragmend.llm.prompts import PromptFile, as_data, load_prompt, shown_as
from ragmend.llm.protocol import LLM, Generation, Prompt, Sampling
from ragmend.records import Record, Source
from ragmend.text.locating import locate_spans

SCHEMA: Mapping[str, JsonValue] = {
    "type": "object",
    "properties": {
        "spans": {
            "type": "array",
            # Bounds for models that would never stop; a string that is closed by force still lies
            # where it began.
            "maxItems": 20,
            "items": {"type": "string", "maxLength": 200},
        }
    },
    "required": ["spans"],
    "additionalProperties": False,
}
NO_QUESTION = "(none)"

# Nothing that is seen, or the sign that stands for a part in the prompt's description of the form.
_IS_BLANK = re.compile(r"[\s.…\u00ad\u200b-\u200f\u2060-\u2064\ufeff]*")


class SpansAnswer(Record):
    """The form of the model's answer."""

    spans: tuple[str, ...]


def judge_prompt() -> PromptFile:
    """Return the prompt of all judges."""
    return load_prompt("ragmend.judges.prompts", "judge")


class PromptedJudge(NamedTuple):
    """Asks a language model about each answer.

    Attributes:
        llm: The model.
        max_tokens: The most tokens of a judgement; a longer one is a fault.
        output: Whether the server is asked to constrain the answer to `SCHEMA`; what comes is
            held to it in any case.
    """

    llm: LLM
    max_tokens: int
    output: Literal["unconstrained", "json-schema"]

    async def find(self, source: Source, answer: str) -> Found:
        """Return what of an answer the model finds unsupported.

        Args:
            source: What the answer must be supported by; its question is context.
            answer: The complete answer; it has text, for one without any is not judged.

        Raises:
            AnswerFaultError: No usable answer came, or the prompt does not fit.
            ValueError: The answer has no text.
        """
        if not answer.strip():
            raise ValueError("an answer without text is not sent to a judge")
        question = (source.question or "").strip() or NO_QUESTION

        def render(source_text: str) -> Prompt:
            return judge_prompt().render(source=source_text, question=question, answer=answer)

        fitted = await fit_source(self.llm, source, answer, render, max_tokens=self.max_tokens)
        schema = SCHEMA if self.output == "json-schema" else None
        sampling = Sampling(max_tokens=self.max_tokens, schema=schema)
        prompt = render(fitted.text)
        generation = await self.llm.generate(prompt, sampling)
        located = locate_spans(answer, read_spans(prompt, generation))
        return Found(located.spans, located.unlocated, generation.text, fitted.n_left_out)


def read_spans(prompt: Prompt, generation: Generation) -> tuple[str, ...]:
    """Read the parts of an answer that a model named as unsupported.

    Raises:
        AnswerFaultError: It named none in the form that was asked for, or a string that says
            "nothing", as "None", and is no part of the answer.
    """
    what = "a judgement"
    read = read_object(generation, SpansAnswer, what=what, seen=(prompt.user,))
    answer = shown_as("answer", prompt.user)
    for text in read.spans:
        if _IS_BLANK.fullmatch(text) or (names_nothing(text) and not _stands_in(answer, text)):
            message = f"{what}: expected parts of the answer, found {text!r} among them"
            raise AnswerFaultError(message, status="malformed", raw=generation.text)
    return read.spans


def _stands_in(answer: str, part: str) -> bool:
    """Tell whether a part stands in an answer as a prompt shows it; a word as a whole word."""
    part = part.strip()
    before = r"(?<!\w)" if part[0].isalnum() else ""
    behind = r"(?!\w)" if part[-1].isalnum() else ""
    forms = (re.escape(part), re.escape(as_data(part)))
    return any(re.search(f"{before}{form}{behind}", answer) for form in forms)
