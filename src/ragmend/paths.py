"""Where everything of a run lies: the one owner of file names.

The folder names are an interface; tools and people rely on them.
"""

import hashlib
import os
from pathlib import Path
from typing import Literal, NamedTuple, get_args

StageName = Literal[
    "detect",
    "select",
    "split",
    "match",
    "verify",
    "propose",
    "assemble",
    "judge",
    "analyze",
    "report",
]
STAGE_NAMES: tuple[StageName, ...] = get_args(StageName)
TRAINING = "00-training"
JOBS = "jobs"  # what was submitted of this run, and what its jobs said
SHARD_LOCKS = "shards/shard-*.jsonl.lock"


class RunPaths(NamedTuple):
    """The files of one run folder."""

    root: Path

    @property
    def config(self) -> Path:
        """The resolved configuration."""
        return self.root / "config.toml"

    @property
    def lock(self) -> Path:
        """The protocol, fixed before any judging."""
        return self.root / "protocol.lock.json"

    @property
    def run_lock(self) -> Path:
        """Names the one command that writes here, while it runs."""
        return self.root / "run.lock"

    def training(self, run_id: str) -> "TrainingPaths":
        """What one training left: "llama-2-13b/seed-42"."""
        return TrainingPaths(self.root / TRAINING / run_id)

    def detector_run_scores(self, run_id: str) -> Path:
        """Response- and span-level counts of one detector run."""
        return self.detections(run_id).with_name("scores.jsonl")

    @property
    def jobs(self) -> "JobsPaths":
        """What was submitted of this run to a cluster."""
        return JobsPaths(self.root / JOBS)

    def detections(self, run_id: str) -> Path:
        """The verdicts of one detector run."""
        return self.root / "01-detections" / run_id / "detections.jsonl"

    @property
    def population(self) -> Path:
        """The flagged responses."""
        return self.root / "02-population" / "population.jsonl"

    @property
    def sources(self) -> Path:
        """The sources of the flagged responses."""
        return self.root / "02-population" / "sources.jsonl"

    @property
    def selection(self) -> Path:
        """Every evaluated response with its gold label and whether it was flagged."""
        return self.root / "02-population" / "selection.jsonl"

    @property
    def detector_scores(self) -> Path:
        """Response- and span-level counts of the detector run."""
        return self.root / "02-population" / "detector_scores.jsonl"

    @property
    def claims(self) -> Path:
        """The claims of the flagged responses."""
        return self.root / "03-claims" / "claims.jsonl"

    @property
    def evidence(self) -> Path:
        """The evidence of every claim."""
        return self.root / "04-evidence" / "evidence.jsonl"

    @property
    def verdicts(self) -> Path:
        """Pass 1: one verdict a claim."""
        return self.root / "05-verdicts" / "verdicts.jsonl"

    @property
    def rewrites(self) -> Path:
        """What the rewriter made of each claim that it was asked about."""
        return self.root / "06-candidates" / "rewrites.jsonl"

    @property
    def candidates(self) -> Path:
        """Proposed replacements with gate and pass-2 verdict."""
        return self.root / "06-candidates" / "candidates.jsonl"

    @property
    def actions(self) -> Path:
        """What each arm did with each claim."""
        return self.root / "07-arms" / "actions.jsonl"

    @property
    def answers(self) -> Path:
        """Every answer in every condition."""
        return self.root / "07-arms" / "answers.jsonl"

    @property
    def exported(self) -> Path:
        """All answers of the split, unflagged ones too, on request."""
        return self.root / "07-arms" / "all_answers.jsonl"

    @property
    def judgements(self) -> Path:
        """One judgement a judge, answer and condition."""
        return self.root / "08-judgements" / "judgements.jsonl"

    @property
    def analysis_manifest(self) -> Path:
        """The manifest of tables and figures."""
        return self.root / "09-analysis" / "manifest.json"

    @property
    def analysis(self) -> Path:
        """The analysis as printed, from which the report is made."""
        return self.root / "09-analysis" / "analysis.json"

    @property
    def report_manifest(self) -> Path:
        """The manifest of the report."""
        return self.root / "09-analysis" / "report-manifest.json"

    @property
    def report(self) -> Path:
        """The report as one self-contained page."""
        return self.root / "report.html"

    @property
    def report_text(self) -> Path:
        """The report as Markdown."""
        return self.root / "report.md"

    @property
    def partial(self) -> Path:
        """The folder of a report of what exists, while the run is not finished."""
        return self.root / "partial"

    @property
    def tables(self) -> Path:
        """The folder of the tables."""
        return self.root / "tables"

    @property
    def figures(self) -> Path:
        """The folder of the figures."""
        return self.root / "figures"

    @property
    def partial_lock(self) -> Path:
        """Names the one command that reports what exists, beside whatever works here."""
        return self.root / "partial.lock"

    @property
    def server_logs(self) -> Path:
        """The folder of what servers said that were started for this run."""
        return self.root / "servers"

    def relative(self, path: Path) -> str:
        """Return a path of this run relative to its root, with forward slashes."""
        return path.relative_to(self.root).as_posix()


class TrainingPaths(NamedTuple):
    """The files of one training."""

    root: Path

    @property
    def lock(self) -> Path:
        """Names the one command that trains here, while it runs."""
        return self.root / "run.lock"

    @property
    def begun(self) -> Path:
        """What is trained here, written before the first step."""
        return self.root / "training.json"

    @property
    def lengths(self) -> Path:
        """Tokens of prompts and targets, by task."""
        return self.root / "lengths.jsonl"

    @property
    def log(self) -> Path:
        """One row a step."""
        return self.root / "log.jsonl"

    @property
    def in_memory(self) -> Path:
        """What the weights in memory answered to the probe when training ended."""
        return self.root / "in-memory.jsonl"

    @property
    def probe(self) -> Path:
        """What the chosen weights answered to the probe."""
        return self.root / "probe.jsonl"

    @property
    def development(self) -> Path:
        """The verdicts of the chosen epoch on the development answers."""
        return self.root / "development" / "detections.jsonl"

    @property
    def epochs(self) -> Path:
        """How each epoch did on the development answers."""
        return self.root / "epochs.jsonl"

    @property
    def health(self) -> Path:
        """The verdict on the training."""
        return self.root / "health.json"

    @property
    def adapter(self) -> Path:
        """The chosen weights: an adapter, or a token classifier's whole model."""
        return self.root / "adapter"

    @property
    def card(self) -> Path:
        """The model card, beside the weights."""
        return self.adapter / "README.md"

    @property
    def ledger(self) -> Path:
        """The evaluations on the test split."""
        return self.root / "ledger.jsonl"

    @property
    def manifest(self) -> Path:
        """Marks the training as complete."""
        return self.root / "manifest.json"


class JobsPaths(NamedTuple):
    """The files of what was submitted of one run to a cluster."""

    root: Path

    @property
    def lock(self) -> Path:
        """Names the one command that submits or cancels, while it does."""
        return self.root / "submit.lock"

    @property
    def logs(self) -> Path:
        """The folder of the jobs' logs."""
        return self.root / "logs"

    @property
    def dry_run(self) -> "SubmissionPaths":
        """What `--dry-run` would have submitted."""
        return SubmissionPaths(self.root / "dry-run")

    def submission(self, number: int) -> "SubmissionPaths":
        """One submission, counted from 1."""
        return SubmissionPaths(self.root / f"submission-{number:03d}")

    def submissions(self) -> list["SubmissionPaths"]:
        """Return all submissions that are there, in order."""
        found = map(SubmissionPaths, self.root.glob("submission-[0-9]*"))
        return sorted(
            (own for own in found if own.root.name.rpartition("-")[2].isdecimal()),
            key=lambda own: own.number,
        )


class SubmissionPaths(NamedTuple):
    """The files of one submission."""

    root: Path

    @property
    def number(self) -> int:
        """Its place among the run's submissions, from 1."""
        return int(self.root.name.rpartition("-")[2])

    @property
    def start(self) -> Path:
        """What is submitted, written before the first job is."""
        return self.root / "submission.json"

    @property
    def submitted(self) -> Path:
        """A row a job that the cluster has taken."""
        return self.root / "jobs.jsonl"

    @property
    def end(self) -> Path:
        """How submitting ended."""
        return self.root / "outcome.json"

    @property
    def config(self) -> Path:
        """The configuration as submitted."""
        return self.root / "config.toml"

    @property
    def cluster(self) -> Path:
        """The cluster file as submitted."""
        return self.root / "cluster.toml"

    @property
    def code(self) -> Path:
        """The folder that holds the package as submitted."""
        return self.root / "code"

    @property
    def scripts(self) -> Path:
        """The folder of the job scripts."""
        return self.root / "scripts"

    @property
    def commands(self) -> Path:
        """The commands that submit it, as a script."""
        return self.root / "commands.sh"


def manifest_path(output: Path) -> Path:
    """Return the manifest of the stage that writes a record file: it lies beside it."""
    return output.with_name("manifest.json")


def faults_path(folder: Path) -> Path:
    """Return where a stage writes the answers that are faulty."""
    return folder / "faults.jsonl"


def shortened_path(folder: Path) -> Path:
    """Return where a stage lists the sources that did not fit a model's context."""
    return folder / "shortened.jsonl"


def shard_path(folder: Path, shard: int = 0, *, role: str | None = None) -> Path:
    """Return the journal of one shard of a stage in progress.

    Args:
        folder: The stage's folder.
        shard: Its number.
        role: None for the units' own records; else whose language model's answers it holds.
    """
    return folder / "shards" / f"shard-{shard:04d}{_of_role(role)}.jsonl"


def shard_paths(folder: Path, *, role: str | None = None) -> list[Path]:
    """Return the journals of all shards that lie in a stage's folder, in order; see above."""
    return sorted((folder / "shards").glob(f"shard-????{_of_role(role)}.jsonl"))


def shard_facts_path(journal: Path) -> Path:
    """Return where lies what a language model said of itself whose answers a journal holds."""
    return journal.with_suffix(".server.json")


def shard_done_path(folder: Path, shard: int) -> Path:
    """Return the marker of a shard that has been answered to its end."""
    return folder / "shards" / f"shard-{shard:04d}.done.json"


def shard_plan_path(folder: Path) -> Path:
    """Return the file that says in how many shards a stage is answered."""
    return folder / "shards" / "plan.json"


def shard_lock_path(shard: Path) -> Path:
    """Return the lock of a shard's one writer: it lies beside it."""
    return shard.with_name(f"{shard.name}.lock")


def lock_paths(root: Path) -> list[Path]:
    """Return the locks that lie in a run folder: the shards' first, the run's own last."""
    own = RunPaths(root).run_lock
    shards = sorted(root.glob(f"[0-9][0-9]-*/**/{SHARD_LOCKS}"))
    detectors = sorted(root.glob(f"0[01]-*/**/{own.name}"))
    last = (RunPaths(root).jobs.lock, RunPaths(root).partial_lock, own)
    return [*shards, *detectors, *filter(os.path.lexists, last)]


def is_lock_path(path: Path) -> bool:
    """Tell whether a path is one that a run's or a shard's lock may have."""
    whole = path.absolute()
    run = RunPaths(whole.parent)
    own = (run.run_lock, run.partial_lock, JobsPaths(whole.parent).lock)
    return whole in own or whole.match(SHARD_LOCKS)


def _of_role(role: str | None) -> str:
    return "" if role is None else f"-{hashlib.sha256(role.encode()).hexdigest()[:8]}"
