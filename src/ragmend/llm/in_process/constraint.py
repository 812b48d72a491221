"""Holds an answer to a JSON schema while it is generated, by the library llguidance."""

import json
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

import numpy as np
from pydantic import JsonValue

from ragmend.errors import AnswerFaultError, ConfigError
from ragmend.llm.in_process.installed import require_libraries

if TYPE_CHECKING:
    from llguidance import LLMatcher
    from torch import Tensor
    from transformers import PreTrainedTokenizerBase

# As json.dumps writes it, and as prompts show it. White space of any length would let a weak model
# write blanks until its limit (vLLM issues 4093 and 13260).
_FORM = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}


class Constraint:
    """One answer's place in a grammar."""

    def __init__(self, matcher: "LLMatcher") -> None:
        """Take a matcher at its beginning."""
        self._matcher = matcher

    def mask(self, logits: "Tensor") -> "Tensor":
        """Return logits in which what cannot come next is minus infinity.

        Args:
            logits: Shape (vocabulary,), on the CPU.

        Raises:
            AnswerFaultError: Nothing can come next.
        """
        import torch

        bits = np.frombuffer(self._matcher.compute_bitmask(), dtype=np.uint8)
        allowed = np.unpackbits(bits, bitorder="little", count=len(logits)).astype(bool)
        if self._matcher.is_error() or not allowed.any():
            raise self._fault()
        return logits.masked_fill(~torch.from_numpy(allowed), float("-inf"))

    def ends_with(self, token: int) -> bool:
        """Take a token; tell whether nothing can follow it.

        Raises:
            AnswerFaultError: It cannot come here.
        """
        if not self._matcher.consume_token(token):
            raise self._fault()
        return bool(self._matcher.is_stopped())

    def _fault(self) -> AnswerFaultError:
        reason = self._matcher.get_error() or "no token can come next"
        return AnswerFaultError(
            f"the answer cannot go on under its JSON schema ({reason.splitlines()[0]})",
            status="malformed",
        )


class Constraints:
    """Makes constraints for one model; its tokenizer is prepared once, at the first of them."""

    def __init__(
        self, tokenizer: "PreTrainedTokenizerBase", *, n_vocabulary: int, end_ids: Collection[int]
    ) -> None:
        """Take the model's tokenizer.

        Args:
            tokenizer: A fast one.
            n_vocabulary: How many logits the model has; some have more than tokens.
            end_ids: Tokens that end an answer.
        """
        require_libraries("llguidance")
        from llguidance.hf import from_tokenizer

        self._tokenizer = from_tokenizer(
            tokenizer, n_vocab=n_vocabulary, eos_token=sorted(end_ids), slices=None
        )

    def start(self, schema: Mapping[str, JsonValue]) -> Constraint:
        """Return a constraint at the beginning of an answer.

        Raises:
            ConfigError: The library cannot hold an answer to this schema.
        """
        from llguidance import LLMatcher

        grammar = LLMatcher.grammar_from_json_schema(json.dumps(schema), overrides=_FORM)
        matcher = LLMatcher(self._tokenizer, grammar, log_level=0)
        if matcher.is_error():
            raise ConfigError(
                f"no answer can be held to this JSON schema ({matcher.get_error()}); "
                'set output = "unconstrained"'
            )
        return Constraint(matcher)
