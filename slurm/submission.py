"""What was submitted: written down before and while it is, so that nothing in the queue is lost.

A submission's mark stands in its record before the first job is submitted, and in every job's
comment: a job that a kill kept from the record is found by it.
"""

import os
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import Field

from ragmend.errors import DataError, OutputError
from ragmend.io import Line, dump_record, parse_record, read_file, read_record, write_bytes
from ragmend.paths import SubmissionPaths
from ragmend.records import Record

ADVICE = (
    "it says which jobs are whose; if none of this run is in the queue (squeue), delete that folder"
)


class SubmissionStart(Record):
    """What is submitted, before the first job is.

    `cluster` is the cluster file's name, `slurm` what SLURM calls itself: job ids are that one's.
    """

    schema_version: Literal[1] = 1
    number: int = Field(ge=1)
    token: str = Field(pattern=r"^[0-9a-f]{16}$")
    name: str
    cluster: str
    slurm: str
    resumed: bool
    accept_faults: str | None
    user: str
    host: str
    started_at: str
    ragmend_version: str
    git_commit: str | None
    git_dirty: bool | None
    pieces: tuple[str, ...]
    config_sha256: str


class SubmittedJob(Record):
    """One job that SLURM has taken."""

    piece: str
    job: str
    stage: str
    role: str | None
    tasks: tuple[str, ...]
    job_id: str = Field(pattern=r"^\d+$")
    dependency: str | None
    gpus: int
    held: bool
    at: str


class SubmissionEnd(Record):
    """How submitting ended: all jobs go, or all were taken back."""

    outcome: Literal["submitted", "withdrawn"]
    reason: str | None = None
    at: str


class Submission(NamedTuple):
    """One submission as its files tell it; without an end, it was interrupted."""

    paths: SubmissionPaths
    start: SubmissionStart
    jobs: tuple[SubmittedJob, ...]
    end: SubmissionEnd | None

    @property
    def is_submitted(self) -> bool:
        """Whether all of it went to the queue."""
        return self.end is not None and self.end.outcome == "submitted"


def read_submission(paths: SubmissionPaths) -> Submission | None:
    """Read a submission; None where it did not come to its first job.

    Raises:
        DataError: A file of it is damaged.
    """
    if not paths.start.exists():
        return None
    try:
        start = read_record(paths.start, SubmissionStart)
        end = read_record(paths.end, SubmissionEnd) if paths.end.exists() else None
        return Submission(paths, start, _read_jobs(paths.submitted), end)
    except DataError as error:
        raise DataError(f"{error}; {ADVICE}") from error


def write_start(paths: SubmissionPaths, start: SubmissionStart) -> None:
    """Write down what is about to be submitted."""
    write_bytes(paths.start, dump_record(start))


def append_job(paths: SubmissionPaths, job: SubmittedJob) -> None:
    """Write down a job that SLURM has taken; it is on the disk when this returns.

    Raises:
        OutputError: It cannot be written.
    """
    try:
        with paths.submitted.open("ab", buffering=0) as file:
            content = job.model_dump_json().encode() + b"\n"
            while content:
                content = content[file.write(content) :]
            os.fsync(file.fileno())
    except OSError as error:
        raise OutputError.of(paths.submitted, error) from error


def write_end(paths: SubmissionPaths, end: SubmissionEnd) -> None:
    """Write down how submitting ended."""
    write_bytes(paths.end, dump_record(end))


def _read_jobs(path: Path) -> tuple[SubmittedJob, ...]:
    if not path.exists():
        return ()
    jobs = []
    for number, raw in enumerate(read_file(path).splitlines(keepends=True), 1):
        if not raw.endswith(b"\n"):
            break  # torn by a kill: its job is found by its mark
        where = f"{path}:{number}"
        try:
            jobs.append(parse_record(Line(where, raw.decode().rstrip("\n")), SubmittedJob))
        except UnicodeDecodeError as error:
            raise DataError(f"{where}: not UTF-8 ({error.reason})") from error
    return tuple(jobs)
