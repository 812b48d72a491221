"""What one training is to be: its job, its data, and what identifies it."""

from pathlib import Path
from typing import NamedTuple

from pydantic import JsonValue

from ragmend.cli.context import Context
from ragmend.config import Config
from ragmend.datasets.ragtruth import Dataset, DatasetFiles, find_files, load_ragtruth
from ragmend.detector.qlora.prompting import detect_prompt
from ragmend.detector.training.job import Job, Kind
from ragmend.detector.training.kinds import kind_of
from ragmend.detector.training.splitting import TrainingSplit, split_training
from ragmend.errors import ConfigError
from ragmend.paths import TrainingPaths
from ragmend.sections.training import Recipe, TrainedModelConfig, run_id

# They change what fits into memory and how often is saved, and of what is trained the last digits.
_WITHOUT_EFFECT = frozenset(
    {"save_steps", "micro_batch_size", "generation_batch_size", "gradient_checkpointing"}
)


class RunName(NamedTuple):
    """One training of the configuration."""

    model: str
    seed: int

    @property
    def run_id(self) -> str:
        """As in "llama-2-13b/seed-42"."""
        return run_id(self.model, self.seed)


class Plan(NamedTuple):
    """One training before it begins."""

    job: Job
    kind: Kind
    paths: TrainingPaths

    @property
    def run_id(self) -> str:
        """The training's name."""
        return self.job.run_id


def choose_runs(config: Config, model: str | None, seed: int | None) -> list[RunName]:
    """Return the trainings of the configuration that are meant.

    Args:
        config: Has `training`.
        model: A detector's name; all of them when None.
        seed: One of the seeds; all of them when None.

    Raises:
        ConfigError: No such detector or seed.
    """
    training = config.trainings
    if model is not None and model not in training.models:
        raise ConfigError(
            f"--model {model}: no such detector, there are: {', '.join(training.models)}"
        )
    if seed is not None and seed not in training.seeds:
        seeds = ", ".join(map(str, training.seeds))
        raise ConfigError(f"--seed {seed}: training.seeds has {seeds}")
    models = training.models if model is None else (model,)
    seeds_meant = training.seeds if seed is None else (seed,)
    return [RunName(name, number) for name in models for number in seeds_meant]


def name_of(config: Config, wanted: str) -> RunName:
    """Return the training of a run's name: "llama-2-13b/seed-42"."""
    return next(run for run in choose_runs(config, None, None) if run.run_id == wanted)


def plan_training(context: Context, run: RunName) -> Plan:
    """Return what one training is to be; nothing is read yet."""
    training = context.config.trainings
    paths = context.paths.training(run.run_id)
    trained = training.models[run.model]
    job = Job(
        name=run.model,
        trained=trained,
        recipe=training.recipe_of(run.model),
        seed=run.seed,
        trackers=training.trackers,
        folder=paths.root,
    )
    return Plan(job, kind_of(trained.kind), paths)


def training_files(config: Config) -> DatasetFiles:
    """Find the files of the train split, beside those of the split that is predicted."""
    return find_files(Path(config.data.path or ""), "train")


def training_inputs(config: Config) -> dict[str, Path]:
    """Name the files of the train split as manifests do."""
    files = training_files(config)
    return {f"data:{path.name}": path for path in (files.responses, files.sources)}


def read_training_data(config: Config) -> tuple[Dataset, TrainingSplit]:
    """Load the train split and part it.

    Raises:
        MissingInputError, DataError: As `load_ragtruth` and `split_training`.
    """
    data = config.data
    found = load_ragtruth(
        training_files(config),
        split="train",
        tasks=data.tasks,
        implicit_true=data.implicit_true,
        due_to_null=data.due_to_null,
    )
    return found, split_training(found, config.trainings)


def training_settings(config: Config, run: RunName) -> dict[str, JsonValue]:
    """Return all of the configuration that decides what a training comes to."""
    training = config.trainings
    trained = training.models[run.model]
    data = config.data.model_dump(
        mode="json", include={"tasks", "implicit_true", "due_to_null", "kind"}
    )
    return {
        **{f"data.{name}": value for name, value in data.items()},
        **detector_identity(trained, training.recipe_of(run.model)),
        "seed": run.seed,
        "development": training.development.model_dump(mode="json"),
        "limit": training.limit,
        "probe": training.probe,
    }


def detector_identity(trained: TrainedModelConfig, recipe: Recipe) -> dict[str, JsonValue]:
    """Return what a detector is made of and asked with."""
    fields = {"id", "revision", "dtype", "quantization"}
    is_generative = trained.kind == "generative"
    return {
        "kind": trained.kind,
        "model": trained.model.model_dump(mode="json", include=fields),
        "recipe": recipe.model_dump(mode="json", exclude=set(_WITHOUT_EFFECT)),
        "prompt": detect_prompt().identity() if is_generative else None,
    }
