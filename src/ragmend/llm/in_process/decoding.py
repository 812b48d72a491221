"""Generates an answer token by token: greedy, or drawn so that it can be repeated."""

import hashlib
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from ragmend.errors import AnswerFaultError
from ragmend.llm.in_process.constraint import Constraint
from ragmend.llm.in_process.running import Runner, ShouldStop

if TYPE_CHECKING:
    from torch import Generator, Tensor


class Generated(NamedTuple):
    """Generated tokens, that which ended them included, and what ended them."""

    ids: list[int]
    finish: Literal["stop", "length"]
    n_reused: int


def generate_tokens(
    runner: Runner,
    ids: Sequence[int],
    *,
    max_tokens: int,
    temperature: float,
    end_ids: Collection[int],
    constraint: Constraint | None,
    should_stop: ShouldStop,
) -> Generated:
    """Generate the answer to a prompt.

    Args:
        runner: The model.
        ids: The prompt's token ids.
        max_tokens: The most tokens, 1 at least.
        temperature: 0 is greedy; else tokens are drawn by a generator that the prompt seeds.
        end_ids: Tokens that end an answer.
        constraint: What the answer is held to, if anything.
        should_stop: Asked before each token.

    Raises:
        AnswerFaultError: A logit is not a number, or nothing can follow under the constraint.
        Abandoned: `should_stop` said so.
    """
    logits, n_reused = runner.prefill(ids, should_stop)
    generator = _seeded(ids) if temperature > 0 else None
    generated: list[int] = []
    while True:
        if constraint is not None:
            logits = constraint.mask(logits)
        token = _choose(logits, temperature, generator)
        generated.append(token)
        if token in end_ids or (constraint is not None and constraint.ends_with(token)):
            return Generated(generated, "stop", n_reused)
        if len(generated) >= max_tokens:
            return Generated(generated, "length", n_reused)
        logits = runner.advance([token], should_stop)


def _seeded(ids: Sequence[int]) -> "Generator":
    """Return a generator that depends on the prompt alone, not on what was asked before."""
    from torch import Generator

    digest = hashlib.sha256(",".join(map(str, ids)).encode()).digest()
    return Generator().manual_seed(int.from_bytes(digest[:7], "big"))


def _choose(logits: "Tensor", temperature: float, generator: "Generator | None") -> int:
    """Return the most probable token, or one drawn by its probability.

    Args:
        logits: Shape (vocabulary,).
        temperature: What logits are divided by before they become probabilities.
        generator: None for the most probable one.
    """
    import torch

    if not bool(torch.isfinite(logits.max())):
        raise AnswerFaultError(
            "the model's greatest logit is not finite; try another dtype", status="non_finite"
        )
    if generator is None:
        return int(logits.argmax())
    # By the greatest first, so that a tiny temperature makes no infinity.
    probabilities = torch.softmax((logits - logits.max()) / temperature, dim=-1)
    return int(torch.multinomial(probabilities, 1, generator=generator))
