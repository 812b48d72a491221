"""A real SLURM on this machine, started and stopped by the scripts beside this file."""

import os
import re
import subprocess
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent

# States in which a job or task will never run again.
ENDED = {
    "BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY",
    "PREEMPTED", "TIMEOUT",
}  # fmt: skip


class Job(NamedTuple):
    """What SLURM says of one job or task; of one that nobody knows any more, state is UNKNOWN."""

    id: str
    state: str
    reason: str
    exit_code: str
    restarts: int
    facts: dict[str, str]

    @property
    def has_ended(self) -> bool:
        """Whether it will never run again."""
        return self.state in ENDED


class Cluster:
    """One SLURM: a folder, a few ports, and `env`, the environment that its commands need."""

    def __init__(self, root: Path, port: int, **settings: str | int) -> None:
        """Name a cluster; `settings` are variables of `start.sh` (MAXARRAY=10, ACCT=1)."""
        self.root = root
        self.settings = {
            "SLURM_TEST_ROOT": str(root),
            "SLURM_TEST_PORT": str(port),
            **{name: str(value) for name, value in settings.items()},
        }
        inherited = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("SLURM_", "SBATCH_", "SQUEUE_", "SACCT_"))
        }
        self.env = {**inherited, "SLURM_CONF": str(root / "slurm.conf")}

    def start(self) -> None:
        """Bring it up, and install SLURM where it is missing; a failure is an error."""
        self._script("start.sh", timeout=420)

    def stop(self) -> None:
        """End its jobs and daemons, and remove its folder."""
        self._script("stop.sh", timeout=120, PURGE="1")

    def _script(self, name: str, timeout: float, **more: str) -> None:
        command = ["bash", str(HERE / name)]
        # Into a file: the daemons inherit the output, and a pipe of theirs would never end.
        log = self.root.with_suffix(f".{name}.log")
        with log.open("w") as out:
            done = subprocess.run(
                command, env={**self.env, **self.settings, **more}, stdin=subprocess.DEVNULL,
                stdout=out, stderr=subprocess.STDOUT, timeout=timeout,
            )  # fmt: skip
        if done.returncode:
            raise AssertionError(f"{name} failed with {done.returncode}:\n{log.read_text()}")

    def run(self, *command: str | Path, check: bool = True, **options) -> str:
        """Run a command against this cluster; its standard output, without the last newline."""
        options = {"timeout": 60, "env": self.env, **options}
        done = subprocess.run(
            [str(word) for word in command], capture_output=True, text=True,
            stdin=subprocess.DEVNULL, **options,
        )  # fmt: skip
        if check and done.returncode:
            raise AssertionError(
                f"{' '.join(map(str, command))} ended with {done.returncode}:\n"
                f"{done.stdout}{done.stderr}"
            )
        return done.stdout.rstrip("\n")

    def sbatch(self, *words: str | Path, **options) -> str:
        """Submit; the job's id."""
        return self.run("sbatch", "--parsable", *words, **options).split(";")[0]

    def job(self, job: str) -> Job:
        """One job, or one task as `JOB_INDEX`: state, reason and exit code as SLURM has them."""
        shown = self.run("scontrol", "-o", "show", "job", job, check=False)
        records = [_facts(line) for line in shown.splitlines() if line.startswith("JobId=")]
        if not records:
            return Job(job, "UNKNOWN", "", "", 0, {})
        facts = next((each for each in records if _name(each) == job), records[0])
        return Job(
            job, facts["JobState"], facts["Reason"], facts["ExitCode"], int(facts["Restarts"]),
            facts,
        )  # fmt: skip

    def tasks(self, job: str) -> dict[str, Job]:
        """Every task of an array that SLURM has told apart, by `JOB_INDEX`; else the job."""
        shown = self.run("scontrol", "-o", "show", "job", job, check=False)
        names = [_name(_facts(line)) for line in shown.splitlines() if line.startswith("JobId=")]
        return {name: self.job(name) for name in names}

    def queue(self, *options: str, form: str = "%i %T %r") -> list[str]:
        """The lines of `squeue`, one a task."""
        return self.run("squeue", "-h", "-r", "-o", form, *options).splitlines()

    def wait_for(
        self, what: str | Iterable[str] | Callable[[], object], timeout: float = 60
    ) -> None:
        """Wait until jobs have left the queue, or until a predicate is true.

        Args:
            what: a job id, several, or a function of no arguments.
            timeout: seconds after which this fails, with the queue and the ends of all logs.
        """
        if callable(what):
            is_so = what
        else:
            ids = [what] if isinstance(what, str) else list(what)
            is_so = lambda: not self._queued(ids)  # noqa: E731
        until = time.monotonic() + timeout
        while not is_so():
            if time.monotonic() > until:
                raise AssertionError(f"not within {timeout} s: {what}\n{self.describe()}")
            time.sleep(0.2)

    def _queued(self, ids: list[str]) -> list[str]:
        known = set(self.queue("-t", "all", form="%A %F %i"))
        wanted = [line for line in known if set(line.split()) & set(ids)]
        missing = set(ids) - {word for line in known for word in line.split()}
        if missing:
            raise AssertionError(f"SLURM does not know {sorted(missing)}\n{self.describe()}")
        running = set(self.queue(form="%A %F %i"))
        return [line for line in wanted if line in running]

    def describe(self) -> str:
        """The queue, and the end of every daemon's log: what a failed wait needs."""
        parts = [self.run("squeue", "-r", "-o", "%i %j %T %r %S %E", check=False)]
        for log in sorted((self.root / "log").glob("slurm*.log")):
            tail = log.read_text(errors="replace").splitlines()[-15:]
            parts.append(f"--- {log.name}\n" + "\n".join(tail))
        return "\n".join(parts)


def _facts(line: str) -> dict[str, str]:
    return dict(re.findall(r"(\S+?)=(.*?)(?= \S+=|$)", line))


def _name(facts: dict[str, str]) -> str:
    if "ArrayJobId" in facts:
        return f"{facts['ArrayJobId']}_{facts['ArrayTaskId']}"
    return facts["JobId"]
