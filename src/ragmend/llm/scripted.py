"""A scripted language model for tests and dry runs: it answers what it is told to answer."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from ragmend.llm.protocol import Generation, LabelScores, Prompt, Sampling

CHARS_A_TOKEN = 4


class ScriptedLLM(NamedTuple):
    """Answers by two functions of the prompt; what they raise is what the model raises.

    Attributes:
        scores: The log-probabilities of label forms.
        text: The generated answer; one longer than it may be is cut, as a model's is.
        model: Its name.
        context_length: In tokens, of four characters each.
    """

    scores: Callable[[Prompt], Mapping[str, float]]
    text: Callable[[Prompt], str]
    model: str = "scripted"
    context_length: int = 1_000_000

    async def score_labels(self, prompt: Prompt) -> LabelScores:
        """Return what `scores` says."""
        n_tokens = await self.count_tokens(prompt)
        return LabelScores(logprobs=dict(self.scores(prompt)), n_prompt_tokens=n_tokens)

    async def generate(self, prompt: Prompt, sampling: Sampling) -> Generation:
        """Return what `text` says."""
        text = self.text(prompt)
        most = sampling.max_tokens * CHARS_A_TOKEN
        return Generation(
            text=text[:most],
            finish="length" if len(text) > most else "stop",
            n_prompt_tokens=await self.count_tokens(prompt),
            n_tokens=min(_n_tokens(text), sampling.max_tokens),
        )

    async def count_tokens(self, prompt: Prompt) -> int:
        """Count a token for every four characters begun."""
        return _n_tokens(prompt.system) + _n_tokens(prompt.user)


def _n_tokens(text: str) -> int:
    return -(-len(text) // CHARS_A_TOKEN)
