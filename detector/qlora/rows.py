"""Training rows and asked prompts: how a pair becomes token ids, and what does not fit.

Prompt and target share `recipe.max_length`. Of that, `recipe.answer_tokens` are kept free for the
answer, in training too, so that a prompt is shortened there exactly as in use; a target that is
longer takes more. Only the source is ever cut (`ragmend.detector.training.shortening`).
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ragmend.detector.qlora.prompting import prompt_text
from ragmend.detector.qlora.targets import target_text
from ragmend.detector.qlora.tokens import Coder
from ragmend.detector.training.job import Pair
from ragmend.detector.training.shortening import shorten_source
from ragmend.sections.training import Recipe
from ragmend.trained import DetectorAnswer

NO_LOSS = -100
"""The label of a token that has no loss, as torch's cross entropy and TRL have it."""


class FittedPrompt(NamedTuple):
    """A prompt that fits, and how many pieces of its source were left out for that."""

    ids: list[int]
    n_left_out: int


class Row(NamedTuple):
    """One training example; `prompt` is None where it fits with no piece of its source."""

    pair: Pair
    prompt: FittedPrompt | None
    target_ids: list[int]

    @property
    def input_ids(self) -> list[int]:
        """Prompt and target; of a row that fits."""
        return [*(self.prompt.ids if self.prompt else ()), *self.target_ids]

    @property
    def labels(self) -> list[int]:
        """What is learnt at each position: the target alone."""
        return [NO_LOSS] * (len(self.prompt.ids) if self.prompt else 0) + self.target_ids


def make_row(pair: Pair, coder: Coder, recipe: Recipe) -> Row:
    """Return the training example of a pair.

    Raises:
        DataError: The response is not annotated.
    """
    target_ids = coder.target_ids(target_text(pair.response))
    room = recipe.max_length - max(recipe.answer_tokens, len(target_ids))
    return Row(pair, _fit(pair, coder, room), target_ids)


def make_rows(pairs: Iterable[Pair], coder: Coder, recipe: Recipe) -> list[Row]:
    """Return the training examples of pairs, in order.

    Raises:
        DataError: A response is not annotated.
    """
    return [make_row(pair, coder, recipe) for pair in pairs]


def asked_prompt(pair: Pair, coder: Coder, recipe: Recipe) -> FittedPrompt | None:
    """Return the prompt with which a detector is asked; None where it does not fit."""
    return _fit(pair, coder, recipe.max_length - recipe.answer_tokens)


def too_long_answer(pair: Pair, coder: Coder, recipe: Recipe) -> DetectorAnswer:
    """Return what stands in place of an answer to a pair that `asked_prompt` has no prompt of."""
    n_without = len(coder.prompt_ids(prompt_text(pair, "")))
    return DetectorAnswer(
        record_id=pair.response.record_id,
        ended=False,
        problem="too_long",
        message=(
            f"response {pair.response.record_id}: without its source the prompt has "
            f"{n_without} tokens, and no piece of the source fits beside it in "
            f"{recipe.max_length - recipe.answer_tokens} (recipe.max_length − "
            "recipe.answer_tokens); raise recipe.max_length and train again"
        ),
    )


def rows_that_fit(rows: Sequence[Row]) -> list[Row]:
    """Return the rows that take part in training."""
    return [row for row in rows if row.prompt is not None]


def _fit(pair: Pair, coder: Coder, room: int) -> FittedPrompt | None:
    def encode(source: str) -> list[int]:
        return coder.prompt_ids(prompt_text(pair, source))

    short = shorten_source(pair.source, lambda source: len(encode(source)) <= room)
    return None if short is None else FittedPrompt(encode(short.text), short.n_left_out)
