"""Runs a causal language model on token ids, and computes no prefix twice.

What a prompt's logits are must not depend on what was asked before it, or a resumed run would
differ from an uninterrupted one in the last digits (a matrix product over 60 tokens is not bit by
bit one over 600). So a prompt is always run in blocks that begin at multiples of `BLOCK`, and only
whole blocks of the last prompt are taken over: each block is the same computation whether what is
before it was kept or has just been computed.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ragmend.errors import AnswerFaultError

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import DynamicCache, PreTrainedModel

BLOCK = 128
"""Tokens a block, as in vLLM on a CPU. Smaller ones reuse a few tokens more and cost time: 1,024
tokens of SmolLM2-135M took 2.6 s in one block, 3.2 s in blocks of 128, 4.0 s of 64, 6.0 s of 32."""

ShouldStop = Callable[[], bool]


class Abandoned(Exception):  # noqa: N818 - nothing failed
    """Nobody waits for this answer any more."""


class Prefilled(NamedTuple):
    """A prompt that has been run.

    Attributes:
        logits: For the token after it, float32 on the CPU, shape (vocabulary,).
        n_reused: How many of its tokens were not computed again.
    """

    logits: "Tensor"
    n_reused: int


class Runner:
    """A model and the keys and values of the last prompt's whole blocks."""

    def __init__(self, model: "PreTrainedModel", *, n_threads: int) -> None:
        """Take a loaded model.

        Args:
            model: On its device and in evaluation mode.
            n_threads: Torch's threads, where the model is on the CPU.
        """
        self.model = model
        self._n_threads = n_threads
        self._ids: list[int] = []  # of whole blocks only
        self._cache = _empty_cache()

    def prefill(self, ids: Sequence[int], should_stop: ShouldStop) -> Prefilled:
        """Run a prompt; take over the blocks that it shares with the one before.

        Args:
            ids: Token ids, at least one.
            should_stop: Asked before each block.

        Raises:
            AnswerFaultError: A logit is not a number.
            Abandoned: `should_stop` said so.
        """
        import torch

        torch.set_num_threads(self._n_threads)  # of the calling thread, which is the worker
        n_reused = self._keep_common(ids)
        for start in range(n_reused, len(ids), BLOCK):
            block = ids[start : start + BLOCK]
            logits = self.advance(block, should_stop)
            if len(block) == BLOCK:
                self._ids += block
        return Prefilled(logits, n_reused)

    def advance(self, ids: Sequence[int], should_stop: ShouldStop) -> "Tensor":
        """Run more tokens after all that was run; return the logits for the one after them.

        Raises:
            AnswerFaultError, Abandoned: As `prefill`.
        """
        if should_stop():
            raise Abandoned
        try:
            logits = self._forward(ids)
        except BaseException:
            self._forget()  # some layers may have taken the tokens in, others not
            raise
        if bool(logits.isnan().any()):
            self._forget()
            raise AnswerFaultError(
                "the model gave a logit that is not a number; try another dtype",
                status="non_finite",
            )
        return logits

    def _forward(self, ids: Sequence[int]) -> "Tensor":
        import torch

        with torch.inference_mode():
            output = self.model(
                input_ids=torch.tensor([list(ids)], device=self.model.device),
                cache=self._cache,
                use_cache=True,
                logits_to_keep=1,
            )
            logits: Tensor = output.logits[0, -1].float().cpu()
        return logits

    def _keep_common(self, ids: Sequence[int]) -> int:
        """Crop the cache to the blocks that a prompt shares; return how many tokens these are."""
        # One token at least must be run, or there would be no logits.
        n_common = _common_length(self._ids, ids[:-1]) // BLOCK * BLOCK
        n_cached = int(self._cache.get_seq_length())
        if n_common == 0:
            self._forget()
        elif n_common < n_cached:
            self._cache.crop(n_common - n_cached)
            self._ids = self._ids[:n_common]
        return n_common

    def _forget(self) -> None:
        self._ids, self._cache = [], _empty_cache()


def _empty_cache() -> "DynamicCache":
    from transformers import DynamicCache

    # Without the model's configuration it keeps all of a sliding window's keys, so that it can
    # be cropped; the window is in the attention mask.
    return DynamicCache()


def _common_length(first: Sequence[int], second: Sequence[int]) -> int:
    pairs = enumerate(zip(first, second, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(first), len(second)))
