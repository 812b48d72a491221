"""How training rows become a batch: one place, so that what decides it can be measured."""

from typing import Any

from ragmend.detector.qlora.tokens import Coder


def build_collator(coder: Coder) -> Any:  # noqa: ANN401 - a callable of TRL's
    """Return TRL's collator, which keeps the labels that it is given.

    It fills input up with the padding token and labels with "no loss", by position. A collator
    that goes by the token's value instead takes the loss off every end token as soon as the
    padding token is the same.
    """
    from trl.trainer.sft_trainer import DataCollatorForLanguageModeling

    return DataCollatorForLanguageModeling(pad_token_id=coder.pad_id)
