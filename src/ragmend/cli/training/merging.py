"""`ragmend detect merge`: an adapter becomes part of its base, with what that changes measured."""

from collections.abc import Iterator
from pathlib import Path

from ragmend.cli.context import Context
from ragmend.cli.training.plan import RunName, plan_training, read_training_data
from ragmend.cli.training.predicting import require_trained
from ragmend.errors import ConfigError, OutputError

MERGE_TOLERANCE = 0.05
"""Greatest logit difference that a merged model may show; 1e-4 was measured in float32."""


def merge(context: Context, run: RunName, into: Path) -> Iterator[str]:
    """Merge, and yield what a person must know of it.

    Raises:
        ConfigError: A token classifier has no adapter.
        OutputError: The folder is there already.
        RunStateError: The training is not complete.
    """
    require_trained(context, run)
    plan = plan_training(context, run)
    if plan.job.trained.kind != "generative":
        raise ConfigError(f"{run.run_id} was trained as a whole: there is no adapter to merge")
    if into.exists():
        raise OutputError(f"{into}: is there already; give a new folder")
    from ragmend.detector.qlora.merging import merge_adapter

    _, split = read_training_data(context.config)
    batches = list(plan.kind.batches(plan.job, split.probe))
    merged = merge_adapter(plan.job, plan.paths.adapter, into, batches)
    verdict = "within" if merged.difference <= MERGE_TOLERANCE else "OVER"
    yield (
        f"{run.run_id}: merged into {into}; logits differ by up to {merged.difference:.3g} "
        f"({verdict} the tolerance of {MERGE_TOLERANCE:g}), {merged.n_different_answers} of "
        f"{len(split.probe)} probe answers differ"
    )
