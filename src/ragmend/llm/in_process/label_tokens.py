"""Which label forms are one token for a model, and which token."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragmend.errors import ConfigError
from ragmend.llm.labels import NO_FORMS, YES_FORMS

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


def label_tokens(
    tokenizer: "PreTrainedTokenizerBase", forms: Sequence[str], *, model: str
) -> dict[str, int]:
    """Return the token ids of those forms that are one token of their own.

    Where two forms are one token, as "Yes" and " Yes" for tokenisers that begin every text with a
    space, the first has it: counted twice, its probability would be too.

    Args:
        tokenizer: The model's.
        forms: Words as they may begin an answer.
        model: The model's name, for messages.

    Raises:
        ConfigError: Forms of Yes, or of No, were asked for, and none of them is one token.
    """
    found: dict[str, int] = {}
    special = {*tokenizer.all_special_ids, tokenizer.unk_token_id}
    for form in forms:
        ids = tokenizer.encode(form, add_special_tokens=False)
        if len(ids) == 1 and ids[0] not in special and ids[0] not in found.values():
            found[form] = ids[0]
    for side in (YES_FORMS, NO_FORMS):
        asked = [form for form in forms if form in side]
        if asked and not any(form in found for form in asked):
            raise ConfigError(
                f"{model}: none of {', '.join(map(repr, asked))} is one token of its tokenizer, so "
                "P(support) cannot be read from its first token; take another model"
            )
    return found
