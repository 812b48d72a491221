"""The table of token lengths that is printed before a training begins."""

from collections.abc import Sequence

import numpy as np

from ragmend.detector.qlora.rows import Row, rows_that_fit
from ragmend.records import TASKS, TaskType
from ragmend.trained import LengthRow


def measure_lengths(rows: Sequence[Row]) -> list[LengthRow]:
    """Count the tokens of training examples, one row a task that occurs.

    Prompts are those of the examples that take part, as they are after shortening; targets are
    all of them, each with its end token.
    """
    by_task = {task: [row for row in rows if row.pair.source.task_type == task] for task in TASKS}
    return [_measure(task, own) for task, own in by_task.items() if own]


def _measure(task: TaskType, rows: Sequence[Row]) -> LengthRow:
    left_out = [row.prompt.n_left_out for row in rows if row.prompt is not None]
    prompts = [len(row.prompt.ids) for row in rows if row.prompt is not None]
    targets = [len(row.target_ids) for row in rows]
    return LengthRow(
        task=task,
        n=len(rows),
        prompt_median=_quantile(prompts, 0.5),
        prompt_p95=_quantile(prompts, 0.95),
        prompt_max=max(prompts, default=0),
        target_median=_quantile(targets, 0.5),
        target_p95=_quantile(targets, 0.95),
        target_max=max(targets, default=0),
        n_shortened=sum(n > 0 for n in left_out),
        n_left_out=sum(left_out),
        n_refused=len(rows) - len(rows_that_fit(rows)),
    )


def _quantile(counts: Sequence[int], share: float) -> int:
    """Return the least count that so large a share of them does not exceed."""
    return int(np.quantile(counts, share, method="inverted_cdf")) if counts else 0
