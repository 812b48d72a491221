"""The verifier played by a language model: P(Yes) against P(No) as the answer's first token.

The source comes before the claim in the prompt, so that all claims of a source share a prefix.

Source: Mulakkayala, van Stein, Plaat (arXiv 2608.29307), section 3.2.
"""

from collections.abc import Callable, Sequence

from ragmend.errors import AnswerFaultError
from ragmend.llm.fitting import Fitted, fit_source
from ragmend.llm.gathering import gather_answers
from ragmend.llm.labels import Support, form_probabilities
from ragmend.llm.prompts import PromptFile, load_prompt
from ragmend.llm.protocol import LLM, LabelScores, Prompt
from ragmend.records import Claim, Evidence, Source, Verdict

ANSWER_TOKENS = 1


def verify_prompt() -> PromptFile:
    """Return the prompt; every claim and every edited text is asked about with it."""
    return load_prompt("ragmend.repair.prompts", "verify")


class PromptedVerifier:
    """Asks a language model about each claim; its answers are read, never guessed."""

    def __init__(self, llm: LLM, *, read: Callable[[LabelScores], Support]) -> None:
        """Take the model and how its answers are read.

        Args:
            llm: A model that scores label forms.
            read: `read_support` with the words that count and the least mass on them.
        """
        self._llm = llm
        self._read = read

    @property
    def name(self) -> str:
        """The model's name."""
        return self._llm.model

    async def verify(
        self, source: Source, answer: str, claims: Sequence[Claim], evidence: Sequence[Evidence]
    ) -> list[Verdict]:
        """Return one verdict a claim, in order; the evidence is not shown, the source is.

        Raises:
            AnswerFaultError: A claim got no usable answer, or the source does not fit.
        """
        if not claims:
            return []
        fitted = await self._fit(source, answer, [claim.text for claim in claims])
        return await gather_answers(self._verdict(fitted, claim) for claim in claims)

    async def score_texts(self, source: Source, answer: str, texts: Sequence[str]) -> list[Support]:
        """Return how far each text is supported, in order.

        Raises:
            AnswerFaultError: As `verify`.
        """
        if not texts:
            return []
        fitted = await self._fit(source, answer, texts)
        return await gather_answers(self._support(fitted, text) for text in texts)

    async def _fit(self, source: Source, answer: str, texts: Sequence[str]) -> Fitted:
        longest = max(texts, key=lambda text: len(text.encode()))  # no token is under a byte

        def render(source_text: str) -> Prompt:
            return verify_prompt().render(source=source_text, claim=longest)

        return await fit_source(self._llm, source, answer, render, max_tokens=ANSWER_TOKENS)

    async def _verdict(self, fitted: Fitted, claim: Claim) -> Verdict:
        try:
            scores = await self._ask(fitted, claim.text)
            support = self._read(scores)
        except AnswerFaultError as error:
            raise error.about(claim.claim_id) from error
        return Verdict(
            record_id=claim.record_id,
            claim_id=claim.claim_id,
            p_support=support.p,
            label_probs={"supported": support.p, "unsupported": 1.0 - support.p},
            candidate_mass=support.mass,
            p_interval=support.interval,
            form_probs=dict(form_probabilities(scores)),
            left_out_fragments=fitted.n_left_out,
            model=self.name,
        )

    async def _support(self, fitted: Fitted, text: str) -> Support:
        support = self._read(await self._ask(fitted, text))
        return support._replace(left_out_fragments=fitted.n_left_out)

    async def _ask(self, fitted: Fitted, text: str) -> LabelScores:
        return await self._llm.score_labels(verify_prompt().render(source=fitted.text, claim=text))
