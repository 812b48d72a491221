"""How long each job takes and what it costs: an estimate from arithmetic, not a measurement.

Counts are in `sizes`, rates in `rates`. A model whose size its name does not tell, and a GPU that
is not listed, give no estimate. Queues, requests that are tried again and lost lives are left out.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ragmend.config import Config
from ragmend.sections.data import DataConfig
from ragmend.sections.training import Recipe, TrainedModelConfig, TrainingConfig
from ragmend.slurm.graph import Job
from ragmend.slurm.rates import (
    BACKWARD,
    DECODE_SHARE,
    DISK_BYTES_S,
    FORWARD,
    GENERATE_STEP_S,
    LONGEST_TO_MEAN,
    PREFILL_SHARE,
    PREFIX_CACHE_SHARE,
    RECOMPUTED,
    SELF_TEST_S,
    SERVER_SETUP_S,
    TENSOR_PARALLEL_SHARE,
    TRAIN_SETUP_S,
    TRAIN_SHARE,
    WEIGHT_GRADIENTS,
    Place,
    loaded_bytes,
    n_parameters,
    place_of,
    weight_bytes,
)
from ragmend.slurm.sizes import ANSWERS_A_TRAIN_SOURCE, DEMO, RAGTRUTH, Sizes
from ragmend.slurm.times import parse_time

HOUR_S = 3600.0
PLAIN = "an estimate from arithmetic, not a measurement"


class TaskTime(NamedTuple):
    """Seconds of one task: what each of its lives begins with, and what is done once."""

    setup_s: float
    work_s: float


class JobEstimate(NamedTuple):
    """What a job takes; None: nobody knows.

    Attributes:
        n_tasks: Its tasks.
        hours_a_task: Their mean, in one life.
        gpu_hours: Of all tasks.
        gpu_hours_at_most: What the time limit allows, if each task lives once.
    """

    n_tasks: int
    hours_a_task: float | None
    gpu_hours: float | None
    gpu_hours_at_most: float


class Line(NamedTuple):
    """Seconds of a CPU stage: anyway, and for each answer under repair."""

    fixed: float
    an_answer: float


# By job: measured on 601 and 2,400 of RAGTruth's flagged answers, see SIMULATION.md.
CPU_S: Mapping[str, Line] = {
    "detect": Line(0.7, 0.0001),
    "select": Line(0.7, 0.0001),
    "split": Line(0.7, 0.0004),
    "match": Line(2, 0.002),
    "verify-fold": Line(0.7, 0.0009),
    "propose-fold": Line(0.7, 0.0011),
    "assemble": Line(1, 0.0185),
    "judge-fold": Line(0.7, 0.0009),
    "analyze": Line(5, 0.0034),
    "report": Line(1, 0.0002),
}
# By stage: of a shard without a model, for each of its own answers; the slowest role of each.
EMBEDDED_S: Mapping[str, Line] = {
    "verify": Line(2, 0.008),
    "propose": Line(2, 0.013),
    "judge": Line(2, 0.009),
}


class _Asking(NamedTuple):
    """What a role is asked in all shards together.

    Attributes:
        n_requests: Questions.
        shared: Tokens that all questions about one source begin with.
        own: Tokens of a question behind them.
        written: Tokens of an answer.
    """

    n_requests: float
    shared: float
    own: float
    written: float


def estimate_job(job: Job, config: Config, sizes: Sizes) -> JobEstimate:
    """Return what a job takes.

    Args:
        job: Its tasks may be a part of all; the work of each is the same.
        config: The experiment.
        sizes: How much there is to do in all.
    """
    gpus = job.resources.gpus or 0
    n_tasks = len(job.tasks)
    at_most = parse_time(str(job.resources.time)) / HOUR_S * gpus * n_tasks
    hours = [_hours(estimate_task(job, task, config, sizes)) for task in job.tasks]
    known = [each for each in hours if each is not None]
    if len(known) < n_tasks:
        return JobEstimate(n_tasks, None, None if gpus else 0.0, at_most)
    return JobEstimate(n_tasks, sum(known) / n_tasks, sum(known) * gpus, at_most)


def estimate_task(job: Job, task: str, config: Config, sizes: Sizes) -> TaskTime | None:
    """Return the time of one task of a job; None: nobody knows."""
    if job.template in ("train", "predict"):
        return _detector_time(job, task, config.trainings, sizes)
    if job.template in ("parts", "doctor"):
        return _role_time(job, config, sizes)
    line = CPU_S.get(job.name)
    return None if line is None else TaskTime(line.fixed, line.an_answer * sizes.population)


def default_sizes(config: Config) -> Sizes:
    """Return the sizes of an experiment, as far as its configuration tells them.

    Of fewer tasks, or of a limit, there is so much less of everything.
    """
    data, whole = config.data, DEMO if config.data.kind == "demo" else RAGTRUTH
    test = whole.train if data.split == "train" else whole.test
    # There are about as many answers to each task.
    test = max(1, round(test * len(data.tasks) / len(DataConfig.model_fields["tasks"].default)))
    test = min(test, data.limit or test)
    population = max(1, round(test * whole.population / whole.test))
    population = min(population, config.population.limit or population)
    limit = None if config.training is None else config.training.limit
    return whole._replace(
        test=test, population=population, train=min(whole.train, limit or whole.train)
    )


def format_hours(hours: float | None) -> str:
    """Return hours for people: "?", "0", "<0.1", "3.4", "1,234"."""
    if hours is None:
        return "?"
    if hours == 0:
        return "0"
    if hours < 0.1:
        return "<0.1"
    return f"{hours:.1f}" if hours < 10 else f"{hours:,.0f}"


def assumptions(sizes: Sizes) -> Iterator[str]:
    """Yield what an estimate rests on, a line each."""
    yield f"{PLAIN}; queues and lost lives are left out"
    yield (
        f"answers: {sizes.train:,} for training, {sizes.test:,} to be detected, "
        f"{sizes.population:,} under repair, with {sizes.claims_an_answer:g} claims each, of which "
        f"{100 * sizes.unsupported:g} % are not supported"
    )
    yield (
        f"tokens: {sizes.source:,.0f} a source, {sizes.answer:,.0f} an answer, "
        f"{sizes.claim:,.0f} a claim, {sizes.instructions:,.0f} of instructions"
    )
    yield (
        f"reached of a GPU's peak: {100 * PREFILL_SHARE:g} % in reading prompts, "
        f"{100 * DECODE_SHARE:g} % of the bandwidth in writing, {100 * TRAIN_SHARE:g} % in "
        f"training; {100 * TENSOR_PARALLEL_SHARE:g} % of that where GPUs share a model"
    )
    yield (
        f"a prefix cache saves {100 * PREFIX_CACHE_SHARE:g} % of what it could; a server starts in "
        f"{SERVER_SETUP_S:g} s and loads {DISK_BYTES_S / 1e9:g} GB/s; a model's parameters are "
        "those of its name"
    )


def _hours(time: TaskTime | None) -> float | None:
    return None if time is None else (time.setup_s + time.work_s) / HOUR_S


def _detector_time(job: Job, task: str, training: TrainingConfig, sizes: Sizes) -> TaskTime | None:
    name = task.partition("/seed-")[0]
    trained, recipe = training.models[name], training.recipe_of(name)
    place, parameters = place_of(job.resources), n_parameters(trained.model.id)
    if place is None or parameters is None:
        return None
    setup_s = TRAIN_SETUP_S + loaded_bytes(trained.model, parameters) / DISK_BYTES_S
    detector = _Detector(trained, recipe, place, parameters, sizes)
    if job.template == "predict":
        return TaskTime(setup_s, detector.answer_s(sizes.test))
    n_development = training.development.sources * ANSWERS_A_TRAIN_SOURCE
    asked = min(n_development, training.development.limit or n_development)
    # The probe is asked twice or three times: in memory, reloaded, and of the chosen epoch.
    n_asked = recipe.epochs * asked + 3 * training.probe
    work_s = detector.train_s(max(1, sizes.train - n_development)) + detector.answer_s(n_asked)
    return TaskTime(setup_s, work_s)


class _Detector(NamedTuple):
    """A detector on its GPUs."""

    trained: TrainedModelConfig
    recipe: Recipe
    place: Place
    parameters: float
    sizes: Sizes

    def train_s(self, n_answers: int) -> float:
        """Return the seconds of all epochs."""
        recipe, sizes = self.recipe, self.sizes
        n_seen = n_answers * recipe.epochs
        if recipe.max_steps is not None:
            n_seen = min(n_seen, recipe.max_steps * recipe.batch_size)
        flop = FORWARD + BACKWARD + (RECOMPUTED if recipe.gradient_checkpointing else 0)
        written = 0.0
        if self.trained.kind == "generative":
            written = sizes.train_verdict
        else:
            flop += WEIGHT_GRADIENTS
        tokens = n_seen * min(recipe.max_length, self._prompt + written)
        return flop * self.parameters * tokens / (self.place.flops * TRAIN_SHARE)

    def answer_s(self, n_answers: int) -> float:
        """Return the seconds in which so many answers get a verdict, in this process."""
        prefill_s = self.place.prefill_s(n_answers * self._prompt, self.parameters)
        if self.trained.kind != "generative":
            return prefill_s
        n_batches = n_answers / self.recipe.generation_batch_size
        steps = n_batches * LONGEST_TO_MEAN * self.sizes.train_verdict
        return prefill_s + steps * self._step_s()

    def _step_s(self) -> float:
        n_bytes = weight_bytes(self.trained.model, self.parameters)
        return max(GENERATE_STEP_S, self.place.step_s(n_bytes))

    @property
    def _prompt(self) -> float:
        sizes = self.sizes
        return sizes.train_source + sizes.train_answer + sizes.detector_instructions


def _role_time(job: Job, config: Config, sizes: Sizes) -> TaskTime | None:
    role = config.roles()[str(job.role)]
    if role.model is None:
        line = EMBEDDED_S[job.stage]
        share = sizes.population / int(job.settings["shards"])
        return TaskTime(line.fixed, line.an_answer * share)
    place, parameters = place_of(job.resources), n_parameters(role.model.id)
    if place is None or parameters is None:
        return None
    loading_s = loaded_bytes(role.model, parameters) / DISK_BYTES_S
    if job.template == "doctor":
        return TaskTime(SERVER_SETUP_S + loading_s, SELF_TEST_S)
    is_served = role.backend == "openai"
    asked = _asked(job, config, sizes)
    n_at_once = config.client.concurrency if is_served else 1
    work_s = place.prefill_s(_read(asked, sizes.n_sources), parameters)
    step_s = place.step_s(weight_bytes(role.model, parameters))
    if not is_served:
        step_s = max(GENERATE_STEP_S, step_s)
    work_s += asked.n_requests * asked.written / n_at_once * step_s
    setup_s = (SERVER_SETUP_S if is_served else TRAIN_SETUP_S) + loading_s
    return TaskTime(setup_s, work_s / int(job.settings["shards"]))


def _asked(job: Job, config: Config, sizes: Sizes) -> _Asking:
    shared = sizes.source + sizes.instructions
    if job.stage == "verify":
        return _Asking(sizes.n_claims, shared, sizes.claim, 1)
    if job.stage == "judge":
        return _Asking(sizes.n_judged, shared, sizes.answer, sizes.verdict)
    if job.role == "rewriter":
        own = sizes.fragments + sizes.claim
        if config.rewriter.context == "fragments":
            shared = sizes.instructions
        return _Asking(sizes.n_unsupported, shared, own, sizes.rewrite)
    return _Asking(sizes.n_unsupported * sizes.edits_a_claim, shared, sizes.claim, 1)


def _read(asked: _Asking, n_sources: int) -> float:
    """Return the tokens that are computed: the prefix cache holds some of the rest."""
    whole = asked.n_requests * (asked.shared + asked.own)
    least = min(n_sources, asked.n_requests) * asked.shared + asked.n_requests * asked.own
    return whole - PREFIX_CACHE_SHARE * (whole - least)
