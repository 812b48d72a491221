"""SLURM's own commands: what is submitted, asked and cancelled goes through here."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ragmend.errors import ConfigError, RagmendError

TIMEOUT_S = 120.0
AT_ONCE = 200
"""Job ids on one command line."""
_JOB_ID = re.compile(r"(\d+)(?:;.*)?")
_UNKNOWN = ("Invalid job id", "invalid job id")


class SlurmError(RagmendError, RuntimeError):
    """SLURM refused something, or does not answer."""


class TaskState(NamedTuple):
    """What SLURM says of one task of a job.

    Attributes:
        job_id: The id of the job, or of the array as a whole.
        place: The task's place in the array; None without one, or of an array that waits as a
            whole.
        state: In SLURM's word, as "PENDING".
        reason: Why it waits, or ended: SLURM's word; "" where it says none.
        comment: What marks whose it is.
        exit_code: As "1:0": code and signal; "" where unknown.
        node: Where it runs or ran; "" where nowhere.
        name: The job's name; "" where unknown.
    """

    job_id: str
    place: int | None
    state: str
    reason: str = ""
    comment: str = ""
    exit_code: str = ""
    node: str = ""
    name: str = ""


class Slurm(NamedTuple):
    """The commands of one cluster, and with what environment they are called."""

    environ: Mapping[str, str]

    @classmethod
    def find(cls, environ: Mapping[str, str] | None = None) -> "Slurm":
        """Return the commands of this machine.

        Raises:
            ConfigError: There are none: this is no cluster.
        """
        found = dict(os.environ if environ is None else environ)
        missing = [
            name
            for name in ("sbatch", "squeue", "scontrol", "scancel")
            if shutil.which(name, path=found.get("PATH")) is None
        ]
        if missing:
            raise ConfigError(
                f"this machine has no {missing[0]}: it is not on a SLURM cluster. Log in to one; "
                "`ragmend submit … --dry-run` writes the scripts here, `ragmend run` does without"
            )
        # They go before what stands in a script: set for other jobs, they would change these. And
        # of a job from which this is called, a new one would inherit its array and its lives.
        own = {
            name: value
            for name, value in found.items()
            if name == "SLURM_CONF"
            or not name.startswith(("SLURM_", "SBATCH_", "SQUEUE_", "SACCT_", "SCANCEL_"))
        }
        return cls(own)

    def submit(self, script: Path, *, dependency: str | None = None, hold: bool = False) -> str:
        """Submit a script; return the job's id.

        Raises:
            SlurmError: SLURM refuses it.
        """
        command = ["sbatch", "--parsable"]
        if dependency is not None:
            command.append(f"--dependency={dependency}")
        if hold:
            command.append("--hold")
        answer = self.call([*command, str(script)]).strip()
        found = _JOB_ID.fullmatch(answer.splitlines()[-1] if answer else "")
        if found is None:
            raise SlurmError(f"sbatch {script.name}: expected a job id, it said {answer!r}")
        return found.group(1)

    def check(self, script: Path) -> None:
        """Let SLURM say whether it would take a script; nothing is submitted.

        Raises:
            SlurmError: It would not.
        """
        self.call(["sbatch", "--test-only", str(script)])

    def release(self, ids: Sequence[str]) -> None:
        """Let jobs that are held go."""
        for chunk in _chunks(ids):
            self.call(["scontrol", "release", ",".join(chunk)])

    def cancel(self, ids: Sequence[str]) -> None:
        """End jobs; one that has ended already is no error."""
        for chunk in _chunks(ids):
            self.call(["scancel", "--quiet", *chunk])

    def config(self) -> dict[str, str]:
        """Return what the cluster says of itself, by name: MaxArraySize and the rest."""
        lines = (
            line.partition("=") for line in self.call(["scontrol", "show", "config"]).splitlines()
        )
        return {name.strip(): value.strip() for name, mark, value in lines if mark}

    def cluster_name(self) -> str:
        """Return what the cluster calls itself.

        Raises:
            SlurmError: It does not answer.
        """
        name = self.config().get("ClusterName")
        if not name:
            raise SlurmError("scontrol show config names no ClusterName")
        return name

    def partitions(self) -> list[dict[str, str]]:
        """Return the partitions, each with its fields by name."""
        return [_fields(line) for line in self._show("partition", "PartitionName=")]

    def nodes(self) -> list[dict[str, str]]:
        """Return the nodes, each with its fields by name."""
        lines = self._show("node", "NodeName=")
        # Last comes what people wrote: it may look like fields, and says nothing of the node.
        return [_fields(re.split(r"\s(?:Comment|Extra|Reason)=", line)[0]) for line in lines]

    def queue(self, users: Iterable[str]) -> list[TaskState]:
        """Return every task of some users that has not ended."""
        form = "%A|%F|%K|%T|%r|%j|%k|%N"
        command = ["squeue", "--all", "--noheader", "--array", "--format", form]
        text = self.call([*command, f"--user={','.join(sorted(set(users)))}"])
        return [_queued(line) for line in text.splitlines() if line.count("|") >= 7]

    def known(self, ids: Iterable[str]) -> list[TaskState]:
        """Return what the controller still knows of jobs, ended ones among them."""
        found: list[TaskState] = []
        for job_id in ids:
            try:
                text = self.call(["scontrol", "--oneliner", "show", "job", job_id])
            except SlurmError as error:
                if any(word in str(error) for word in _UNKNOWN):
                    continue  # it has forgotten it
                raise
            found += [
                state
                for line in text.splitlines()
                if line.startswith("JobId=")
                for state in _shown(_fields(line))
            ]
        return found

    def accounted(self, ids: Sequence[str]) -> list[TaskState]:
        """Return what the accounting says of jobs; nothing where there is none.

        Raises:
            SlurmError: There is one, and it does not answer.
        """
        if shutil.which("sacct", path=self.environ.get("PATH")) is None:
            return []
        found: list[TaskState] = []
        for chunk in _chunks(ids):
            form = "JobID%40,State%40,ExitCode,Comment%120,NodeList%60"
            command = ["sacct", "--noheader", "--parsable2", "--allocations", "--format", form]
            try:
                text = self.call([*command, "--jobs", ",".join(chunk)])
            except SlurmError as error:
                if "accounting storage is disabled" in str(error):
                    return []
                raise
            found += [_accounted(line) for line in text.splitlines() if line.count("|") >= 4]
        return found

    def call(self, command: Sequence[str]) -> str:
        """Run one of SLURM's commands; return what it prints.

        Raises:
            SlurmError: It fails, or does not answer in time.
        """
        try:
            done = subprocess.run(  # noqa: S603 - an argument list, no shell
                list(command),
                capture_output=True,
                text=True,
                check=False,
                timeout=TIMEOUT_S,
                env=dict(self.environ),
                errors="replace",
            )
        except subprocess.TimeoutExpired as error:
            raise SlurmError(f"{command[0]} did not answer within {TIMEOUT_S:g} s") from error
        except OSError as error:
            raise SlurmError(
                f"{command[0]} cannot be started: {error.strerror or error}"
            ) from error
        if done.returncode != 0:
            said = " ".join((done.stderr or done.stdout).split())
            raise SlurmError(f"{command[0]}: {said or f'exit code {done.returncode}'}")
        return done.stdout

    def table(self, what: Sequence[str], columns: Sequence[str]) -> list[dict[str, str]]:
        """Return rows of the accounting's own tables, as `show assoc user=…` of sacctmgr.

        Args:
            what: What is shown, and of whom.
            columns: The columns.

        Raises:
            SlurmError: There is no sacctmgr, it does not answer, or not in these columns.
        """
        command = ["sacctmgr", "--noheader", "--parsable2", "show", *what]
        text = self.call([*command, f"format={','.join(columns)}"])
        rows = [line.split("|") for line in text.splitlines() if line.strip()]
        for row in rows:
            if len(row) != len(columns):
                raise SlurmError(
                    f"sacctmgr show {what[0]}: expected {len(columns)} columns, found {row!r}"
                )
        return [dict(zip(columns, row, strict=True)) for row in rows]

    def queued_under(self, user: str) -> list[tuple[str, str]]:
        """Return the account and the QOS of every task of a user that has not ended."""
        command = [
            "squeue",
            "--all",
            "--noheader",
            "--array",
            "--format",
            "%a|%q",
            f"--user={user}",
        ]
        rows = (line.strip().partition("|") for line in self.call(command).splitlines())
        return [(account, qos) for account, mark, qos in rows if mark]

    def _show(self, what: str, begins: str) -> list[str]:
        # All: hidden partitions can be used by those who know their names.
        text = self.call(["scontrol", "--all", "--oneliner", "show", what])
        lines = [line for line in text.splitlines() if line.strip()]
        found = [line for line in lines if line.startswith(begins)]
        if lines and not found and not lines[0].startswith("No "):
            raise SlurmError(
                f"scontrol show {what}: expected lines of {begins}…, found {lines[0]!r}"
            )
        return found


def _chunks(ids: Sequence[str]) -> Iterator[list[str]]:
    for begin in range(0, len(ids), AT_ONCE):
        yield list(ids[begin : begin + AT_ONCE])


def _fields(line: str) -> dict[str, str]:
    """Return the NAME=VALUE fields of a line; a value may hold spaces, a name never does."""
    parts = re.split(r"(?:^|\s)(\w[\w:/.]*)=", line)
    return {name: value.strip() for name, value in zip(parts[1::2], parts[2::2], strict=True)}


def _queued(line: str) -> TaskState:
    _, array, place, state, reason, name, rest = line.split("|", 6)
    comment, _, node = rest.rpartition("|")
    return TaskState(
        job_id=array,
        place=int(place) if place.isdecimal() else None,
        state=state,
        reason="" if reason == "None" else reason,
        comment="" if comment == "(null)" else comment,
        node=node,
        name=name,
    )


def _shown(fields: Mapping[str, str]) -> Iterator[TaskState]:
    places = fields.get("ArrayTaskId", "")
    for place in expand_places(places) if places else [None]:
        yield TaskState(
            job_id=fields.get("ArrayJobId", fields["JobId"]),
            place=place,
            state=fields.get("JobState", "UNKNOWN"),
            reason="" if fields.get("Reason") == "None" else fields.get("Reason", ""),
            comment=fields.get("Comment", ""),
            exit_code=fields.get("ExitCode", ""),
            node=fields.get("NodeList", "").replace("(null)", ""),
            name=fields.get("JobName", ""),
        )


def expand_places(text: str) -> list[int | None]:
    """Return the places that SLURM writes as "0-3,7%2"; [None] where it writes something else."""
    found: list[int | None] = []
    for part in text.partition("%")[0].split(","):
        span = re.fullmatch(r"(\d+)(?:-(\d+))?(?::(\d+))?", part)
        if span is None:
            return [None]
        first, last, step = span.groups()
        found += range(int(first), int(last or first) + 1, int(step or 1))
    return found


def _accounted(line: str) -> TaskState:
    job, state, exit_code, rest = line.split("|", 3)
    comment, _, node = rest.rpartition("|")
    own, _, place = job.partition("_")
    # "CANCELLED by 1000" says who; the state is the first word.
    return TaskState(
        job_id=own,
        place=int(place) if place.isdecimal() else None,
        state=state.split()[0] if state else "UNKNOWN",
        comment=comment,
        exit_code=exit_code,
        node="" if node == "None assigned" else node,
    )
