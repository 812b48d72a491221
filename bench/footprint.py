"""What a graph leaves on disk, and what its tasks need of memory: from measured lines.

Records and journals are those of the embedded backend, as measured; of language models there are
journals of their own besides, and their records are longer (a verdict 590 bytes instead of 280).
"""

from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from importlib.resources.abc import Traversable
from typing import NamedTuple

from bench.stage_costs import Line, StageCosts
from ragmend.config import Config
from ragmend.sections.training import TrainedModelConfig, TrainingConfig
from ragmend.slurm.graph import Job
from ragmend.slurm.rates import n_parameters
from ragmend.slurm.rendering import Piece
from ragmend.slurm.sizes import Sizes

ASKED_BYTES = 450  # a question in a model's own journal: measured with twelve label forms
LOG_BYTES, SERVER_LOG_BYTES = 20_000, 200_000  # of a task, of a server: a guess
PART_FILES = 7  # two journals and their locks, what the server said, a marker, a server's log
PART_FOLDERS = 1  # of that log
TRAINING_FILES = 80  # at most at once: adapter, three epochs, two checkpoints, answers
RUN_FILES = 130  # records, manifests, tables, figures: as measured, whatever the answers
GIB = 2**30  # what SLURM calls a G
FLOAT32, ADAM_8_BIT = 4, 2  # bytes of a parameter of an adapter, and of its optimizer's state
CHECKPOINTS = 2
READINGS = 3  # of every input by every shard: hashed, read, hashed
INPUTS = {
    "verify": ("02-population", "03-claims", "04-evidence"),
    "propose": ("02-population", "03-claims", "04-evidence", "05-verdicts"),
    "judge": ("02-population", "07-arms"),
}
# Hidden and feed-forward widths and blocks of Llama-2, by parameters.
LLAMA_2: Mapping[float, tuple[int, int, int]] = {
    7e9: (4096, 11_008, 32),
    13e9: (5120, 13_824, 40),
    70e9: (8192, 28_672, 80),
}


class Disk(NamedTuple):
    """Bytes and inodes by what they are of; the most that there is at once."""

    n_bytes: Mapping[str, float]
    inodes: Mapping[str, int]


class Need(NamedTuple):
    """Memory of a task in bytes, and what its job has; None: the cluster's default."""

    job: str
    line: Line
    needed: float
    given: float | None


def disk_of(config: Config, pieces: Sequence[Piece], sizes: Sizes, costs: StageCosts) -> Disk:
    """Return what lies on disk when all stages but the last are done, and nothing is folded."""
    n = sizes.population
    n_tasks = sum(len(piece.tasks) for piece in pieces)
    n_parts = sum(len(pack) for piece in pieces for pack in piece.tasks
                  if piece.job.template == "parts")  # fmt: skip
    code = list(_files(resources.files("ragmend")))
    n_trainings = 0 if config.training is None else len(config.training.run_ids())
    records = {k: v * n for k, v in costs.record_bytes.items() if k[:2].isdecimal() and k < "09"}
    asked = sizes.n_claims + sizes.n_unsupported * (1 + sizes.edits_a_claim)
    asked += sizes.n_judged * len(config.judges.panel)
    n_bytes = {
        "records": sum(records.values()),
        "journals of units": sum(costs.journal_bytes.values()) * n,
        "journals of models": asked * ASKED_BYTES,
        "adapters": 0.0 if config.training is None else adapter_bytes(config.training),
        "checkpoints and epochs": (
            0.0 if config.training is None else training_bytes(config.training)
        ),
        "logs": n_tasks * LOG_BYTES + n_parts * SERVER_LOG_BYTES,
        "snapshot of the code": float(sum(len(file.read_bytes()) for file in code)),
    }
    inodes = {
        "shards": n_parts * (PART_FILES + PART_FOLDERS),
        "logs": n_tasks,
        "trainings": n_trainings * TRAINING_FILES,
        "snapshot and scripts": len(code) + len(pieces) + 50,  # its folders, roughly
        "records, tables, figures": RUN_FILES,
    }
    return Disk(n_bytes, inodes)


def adapter_bytes(training: TrainingConfig) -> float:
    """Return the bytes of all chosen adapters; one whose shape is not known here counts none."""
    adapters = (_adapter_parameters(training, name) for name in training.models)
    return FLOAT32 * len(training.seeds) * sum(adapters)


def training_bytes(training: TrainingConfig) -> float:
    """Return the bytes that all trainings hold besides while they run."""
    total = 0.0
    for name in training.models:
        parameters = _adapter_parameters(training, name)
        epochs = training.recipe_of(name).epochs * FLOAT32
        total += parameters * (epochs + CHECKPOINTS * (FLOAT32 + ADAM_8_BIT))
    return total * len(training.seeds)


def memory_needs(pieces: Sequence[Piece], sizes: Sizes, costs: StageCosts) -> Iterator[Need]:
    """Yield what a task of each job needs beside a model: all of the answers, in most.

    A shard holds its own share alone; it was measured on an eighth, and is told as that.
    """
    jobs = {piece.job.name: piece.job for piece in pieces}
    for job in jobs.values():
        line = costs.peak.get(_step(job))
        if line is not None:
            given = job.resources.memory_gb
            needed = line.at(sizes.population)
            yield Need(job.name, line, needed, None if given is None else given * GIB)


def reading_s(job: Job, sizes: Sizes, costs: StageCosts) -> float:
    """Return the seconds in which a shard's task reads what it does not ask about."""
    line = costs.cpu_s.get(_step(job)) if job.template == "parts" else None
    return 0.0 if line is None else line.at(sizes.population)


def _step(job: Job) -> str:
    """Return the measured step that a job is like."""
    if job.template != "parts":
        return job.name
    role = job.role if job.stage in ("verify", "propose") else "overlap"
    return f"{job.stage} {role} reading"


def read_bytes(pieces: Sequence[Piece], sizes: Sizes, costs: StageCosts) -> float:
    """Return what all shards together read: each reads its inputs whole, and hashes them twice."""
    total = 0.0
    for piece in pieces:
        inputs = INPUTS.get(piece.job.stage) if piece.job.template == "parts" else None
        if inputs is not None:
            n_parts = sum(map(len, piece.tasks))
            an_answer = sum(costs.record_bytes.get(folder, 0.0) for folder in inputs)
            total += READINGS * n_parts * an_answer * sizes.population
    return total


def _adapter_parameters(training: TrainingConfig, name: str) -> float:
    trained: TrainedModelConfig = training.models[name]
    shape = LLAMA_2.get(n_parameters(trained.model.id) or 0.0)
    if shape is None:
        return 0.0
    hidden, forward, n_blocks = shape
    widths = {"gate_proj": hidden + forward, "up_proj": hidden + forward,
              "down_proj": hidden + forward}  # fmt: skip
    lora = training.recipe_of(name).lora
    return lora.r * n_blocks * sum(widths.get(target, 2 * hidden) for target in lora.targets)


def _files(folder: Traversable) -> Iterator[Traversable]:
    for each in folder.iterdir():
        if each.is_file():
            yield each
        elif each.name != "__pycache__":
            yield from _files(each)
