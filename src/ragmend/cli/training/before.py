"""What a person wants to know before a training begins: lengths and memory."""

from collections.abc import Iterable, Sequence

from ragmend.cli.context import say
from ragmend.cli.training.plan import Plan
from ragmend.detector.training.splitting import TrainingSplit
from ragmend.io import write_records
from ragmend.trained import LengthRow, MemoryPart

_COLUMNS = (
    ("task", 9), ("answers", 8), ("prompt: median", 15), ("95 %", 6), ("most", 6),
    ("target: median", 15), ("95 %", 6), ("most", 6), ("shortened", 10), ("sentences", 10),
    ("refused", 8),
)  # fmt: skip


def show_before(plan: Plan, split: TrainingSplit) -> None:
    """Print how long prompts and targets are, and what memory is needed; keep the lengths."""
    lengths = plan.kind.measure(plan.job, split.train)
    write_records(plan.paths.lengths, lengths)
    say(
        f"{plan.run_id}: {len(split.train):,} training answers, {len(split.development):,} "
        f"development answers to {len({p.source.source_id for p in split.development})} sources"
    )
    for line in (*format_lengths(lengths), *format_memory(plan.kind.memory(plan.job))):
        say(line)


def format_lengths(rows: Sequence[LengthRow]) -> Iterable[str]:
    """Yield the table of token lengths, with what was left out of sources to make them fit."""
    yield "tokens    " + "".join(f"{name:>{width}}" for name, width in _COLUMNS)
    for row in rows:
        cells = (
            row.task, row.n, row.prompt_median, row.prompt_p95, row.prompt_max, row.target_median,
            row.target_p95, row.target_max, row.n_shortened, row.n_left_out, row.n_refused,
        )  # fmt: skip
        yield "          " + "".join(
            f"{cell:>{width}}" if isinstance(cell, str) else f"{cell:>{width},}"
            for cell, (_, width) in zip(cells, _COLUMNS, strict=True)
        )


def format_memory(parts: Sequence[MemoryPart]) -> Iterable[str]:
    """Yield the estimate of the memory, one line."""
    named = ", ".join(f"{part.part} {part.gib:.1f}" for part in parts)
    yield f"memory    about, in GiB: {named}"
