"""The rewriter played by a language model: one claim, rewritten to what its source supports.

Source: Mulakkayala, van Stein, Plaat (arXiv 2608.29307), section 3.3.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import JsonValue

from ragmend.errors import AnswerFaultError
from ragmend.llm.fitting import fit_source
from ragmend.llm.json_answers import names_nothing, read_object
from ragmend.llm.pieces import LEFT_OUT
from ragmend.llm.prompts import PromptFile, load_prompt, shown_as
from ragmend.llm.protocol import LLM, Generation, Prompt, Sampling
from ragmend.records import Claim, Evidence, Record, Rewrite, Source

Context = Literal["fragments-and-source", "fragments"]

SCHEMA: Mapping[str, JsonValue] = {
    "type": "object",
    "properties": {"rewrite": {"type": ["string", "null"]}},
    "required": ["rewrite"],
    "additionalProperties": False,
}
_PROMPTS: Mapping[Context, str] = {
    "fragments-and-source": "rewrite",
    "fragments": "rewrite-fragments",
}
# The mark of left-out text, and as models retype it.
_MARKS = (LEFT_OUT, LEFT_OUT.replace("…", "..."))


class RewriteAnswer(Record):
    """The form of the model's answer."""

    rewrite: str | None


def rewrite_prompt(context: Context) -> PromptFile:
    """Return the prompt for what the rewriter is to see."""
    return load_prompt("ragmend.repair.prompts", _PROMPTS[context])


class PromptedRewriter:
    """Asks a language model for each rewrite."""

    def __init__(self, llm: LLM, *, context: Context, sampling: Sampling) -> None:
        """Take the model, what it sees and how it generates."""
        self._llm = llm
        self._context = context
        self._sampling = sampling

    @property
    def name(self) -> str:
        """The model's name."""
        return self._llm.model

    async def rewrite(
        self, source: Source, answer: str, claim: Claim, evidence: Sequence[Evidence]
    ) -> Rewrite:
        """Return the rewrite of a claim; without text where the model says that nothing stands.

        Raises:
            AnswerFaultError: No usable answer came, or the source does not fit.
        """
        try:
            return await self._rewrite(source, answer, claim, evidence)
        except AnswerFaultError as error:
            raise error.about(claim.claim_id) from error

    async def _rewrite(
        self, source: Source, answer: str, claim: Claim, evidence: Sequence[Evidence]
    ) -> Rewrite:
        prompt, n_left_out = await self._prompt(source, answer, claim, evidence)
        generation = await self._llm.generate(prompt, self._sampling)
        return Rewrite(
            record_id=claim.record_id,
            claim_id=claim.claim_id,
            text=read_rewrite(prompt, generation),
            model=self.name,
            left_out_fragments=n_left_out,
            raw=generation.text,
        )

    async def _prompt(
        self, source: Source, answer: str, claim: Claim, evidence: Sequence[Evidence]
    ) -> tuple[Prompt, int]:
        file = rewrite_prompt(self._context)
        fragments = "\n".join(f"- {row.text}" for row in evidence) or "(none)"
        if self._context == "fragments":
            return file.render(fragments=fragments, claim=claim.text), 0

        def render(source_text: str) -> Prompt:
            return file.render(source=source_text, fragments=fragments, claim=claim.text)

        fitted = await fit_source(
            self._llm, source, answer, render, max_tokens=self._sampling.max_tokens
        )
        return render(fitted.text), fitted.n_left_out


def read_rewrite(prompt: Prompt, generation: Generation) -> str | None:
    """Read the rewritten sentence, on one line; None where the model says that there is none.

    Raises:
        AnswerFaultError: It said neither in the form that was asked for, or wrote "null" as a
            sentence, or copied the mark of left-out text, which the claim does not have.
    """
    read = read_object(generation, RewriteAnswer, what="a rewrite", seen=(prompt.user,))
    text = None if read.rewrite is None else " ".join(read.rewrite.split())
    if text is None:
        return None
    claim = shown_as("claim", prompt.user)
    is_marked = any(mark in text for mark in _MARKS) and not any(mark in claim for mark in _MARKS)
    if names_nothing(text) or is_marked:  # the form's own example, "…", among them
        message = f"expected a sentence as the rewrite, found {text!r}"
        raise AnswerFaultError(message, status="malformed", raw=generation.text)
    return text
