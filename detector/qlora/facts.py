"""What decides whether a detector can learn to stop, measured on the rows that it trains on."""

from collections.abc import Sequence

from ragmend.detector.qlora import collating
from ragmend.detector.qlora.rows import NO_LOSS, Row, asked_prompt, rows_that_fit
from ragmend.detector.qlora.tokens import Coder
from ragmend.sections.training import Recipe
from ragmend.trained import TokenFacts


def find_token_facts(rows: Sequence[Row], coder: Coder, recipe: Recipe) -> TokenFacts:
    """Look at training rows as they reach the model: after the collator.

    Args:
        rows: Those that do not fit are passed over.
        coder: The tokenizer.
        recipe: How prompts are shortened when the detector is asked.
    """
    own = rows_that_fit(rows)
    learnt = _last_learnt(own, coder)
    return TokenFacts(
        pad_token=coder.name_of(coder.pad_id),
        end_token=coder.name_of(coder.end_id),
        pad_is_end=coder.pad_id in coder.end_ids,
        n_targets=len(own),
        n_without_end=sum(label != coder.end_id for label in learnt),
        n_double_begin=sum(_n_begin(row, coder) > 1 for row in own),
        n_served_otherwise=sum(row.prompt != asked_prompt(row.pair, coder, recipe) for row in own),
    )


def _last_learnt(rows: Sequence[Row], coder: Coder) -> list[int | None]:
    """Return the last label of each row that has a loss; None where no label has one."""
    collate = collating.build_collator(coder)
    found: list[int | None] = []
    for row in rows:
        batch = collate([{"input_ids": row.input_ids, "labels": row.labels}])
        labels = [label for label in batch["labels"][0].tolist() if label != NO_LOSS]
        found.append(labels[-1] if labels else None)
    return found


def _n_begin(row: Row, coder: Coder) -> int:
    begin = coder.tokenizer.bos_token_id
    return row.prompt.ids.count(begin) if row.prompt and begin is not None else 0
