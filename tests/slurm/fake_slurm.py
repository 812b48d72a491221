"""A stand-in for SLURM's commands, to see what is asked of them; it runs nothing.

`install(folder)` puts `sbatch`, `squeue`, `scontrol`, `scancel`, `sacct` there. Their one state is
`folder/state.json`; tests change it, and read what was asked from `folder/calls.jsonl`.
"""

import fcntl
import json
import os
import re
import signal
import stat
import sys
from pathlib import Path

COMMANDS = ("sbatch", "squeue", "scontrol", "scancel", "sacct")
CONFIG = """Configuration data as of 2026-12-01T00:37:37
AccountingStorageType   = accounting_storage/none
ClusterName             = fake
EnforcePartLimits       = NO
JobRequeue              = 1
KillWait                = 30 sec
MaxArraySize            = 1001
MaxJobCount             = 10000
PreemptMode             = REQUEUE
SLURM_VERSION           = 22.05.8
"""
PARTITION = (
    "PartitionName=cpu AllowGroups=ALL AllowAccounts=ALL AllowQos=ALL AllocNodes=ALL Default=YES "
    "QoS=N/A DefaultTime=00:10:00 DisableRootJobs=NO ExclusiveUser=NO GraceTime=0 Hidden=NO "
    "MaxNodes=UNLIMITED MaxTime=1-00:00:00 MinNodes=0 LLN=NO MaxCPUsPerNode=UNLIMITED "
    "Nodes=node[1-2] PriorityJobFactor=1 PriorityTier=10 RootOnly=NO ReqResv=NO OverSubscribe=NO "
    "OverTimeLimit=NONE PreemptMode=OFF State=UP TotalCPUs=16 TotalNodes=2 "
    "SelectTypeParameters=NONE JobDefaults=(null) DefMemPerCPU=1000 MaxMemPerNode=UNLIMITED "
    "TRES=cpu=16,mem=500G,node=2,billing=16"
)
NODE = (
    "NodeName=node{n} Arch=x86_64 CoresPerSocket=8  CPUAlloc=0 CPUEfctv=8 CPUTot=8 CPULoad=0.58 "
    "AvailableFeatures=(null) ActiveFeatures=(null) Gres=gpu:a100:4 NodeAddr=127.0.0.1 "
    "NodeHostName=vm Port=23511 Version=22.05.8 OS=Linux 6.18 #1 SMP @0  RealMemory=256000 "
    "AllocMem=0 FreeMem=18652 Sockets=1 Boards=1 State=IDLE ThreadsPerCore=1 TmpDisk=0 Weight=1 "
    "Owner=N/A MCS_label=N/A Partitions=cpu  BootTime=2026-11-30T08:45:15 "
    "CfgTRES=cpu=8,mem=250G,billing=8 AllocTRES= CapWatts=n/a"
)
START = {"jobs": [], "refuse": [], "refuse_check": [], "kill_at": None, "silent": []}


class FakeSlurm:
    """The commands' folder, as a test sees it."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.folder.mkdir()
        for name in COMMANDS:
            path = self.folder / name
            path.write_text(f"#!{sys.executable}\n{Path(__file__).read_text()}")
            path.chmod(path.stat().st_mode | stat.S_IXUSR)
        self.change(**START)

    @property
    def env(self):
        return {"PATH": f"{self.folder}:{os.environ['PATH']}"}

    @property
    def state(self):
        path = self.folder / "state.json"
        return json.loads(path.read_text()) if path.exists() else {}

    @property
    def jobs(self):
        return self.state["jobs"]

    @property
    def calls(self):
        path = self.folder / "calls.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def change(self, **values):
        (self.folder / "state.json").write_text(json.dumps(self.state | values))

    def set_jobs(self, change):
        """Let a function change every job that is in the queue."""
        jobs = self.jobs
        for job in jobs:
            change(job)
        self.change(jobs=jobs)


def option(script, name):
    found = re.search(rf"^#SBATCH --{name}=(.*)$", script, re.MULTILINE)
    return found and found.group(1)


def sbatch(state, words):
    script = Path(words[-1])
    text = script.read_text()
    if "--test-only" in words:
        if script.stem in state["refuse_check"]:
            return "", "allocation failure: Invalid qos specification", 1
        return "", "sbatch: Job 1 to start at …", 0
    if script.stem in state["refuse"]:
        return "", "sbatch: error: Batch job submission failed: no more jobs for you", 1
    given = {w.partition("=")[0]: w.partition("=")[2] for w in words if w.startswith("--")}
    array = option(text, "array")
    job = {
        "id": str(100 + len(state["jobs"])),
        "name": script.stem,
        "title": option(text, "job-name"),
        "n": None if array is None else int(re.search(r"-(\d+)", array).group(1)) + 1,
        "comment": option(text, "comment"),
        "dependency": given.get("--dependency"),
        "held": "--hold" in words,
        "state": "PENDING",
        "reason": "Dependency" if "--dependency" in given else "Priority",
    }
    state["jobs"].append(job)
    return job["id"] + "\n", "", 0


def squeue(state, words):
    lines = [
        f"{job['id']}|{job['id']}|{'N/A' if place is None else place}|{job['state']}|"
        f"{'JobHeldUser' if job['held'] else job['reason']}|{job['title']}|{job['comment']}|"
        for job in state["jobs"]
        if job["state"] in ("PENDING", "RUNNING", "COMPLETING")
        for place in ([None] if job["n"] is None else range(job["n"]))
    ]
    return "".join(f"{line}\n" for line in lines), "", 0


def scontrol(state, words):
    if "config" in words:
        return CONFIG, "", 0
    if "partition" in words:
        return PARTITION + "\n", "", 0
    if "node" in words:
        return "".join(NODE.format(n=n) + "\n" for n in (1, 2)), "", 0
    if words[0] == "release":
        for job in state["jobs"]:
            job["held"] = job["held"] and job["id"] not in words[1].split(",")
        return "", "", 0
    (job,) = [j for j in state["jobs"] if j["id"] == words[-1]] or [None]
    if job is None or job.get("forgotten"):
        return "", "slurm_load_jobs error: Invalid job id specified", 1
    array = "" if job["n"] is None else f" ArrayJobId={job['id']} ArrayTaskId=0-{job['n'] - 1}"
    line = (
        f"JobId={job['id']}{array} JobName={job['title']} JobState={job['state']} "
        f"Reason={job['reason']} Restarts=0 ExitCode={job.get('exit', '0:0')} "
        f"NodeList=(null) Comment={job['comment']} \n"
    )
    return line, "", 0


def scancel(state, words):
    for job in state["jobs"]:
        if job["id"] in words and job["state"] in ("PENDING", "RUNNING"):
            job["state"] = "CANCELLED"
    return "", "", 0


def sacct(state, words):
    return "", "Slurm accounting storage is disabled", 1


def main():
    folder = Path(sys.argv[0]).parent
    name = Path(sys.argv[0]).name
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with (folder / "calls.jsonl").open("a") as calls:
            calls.write(json.dumps([name, *sys.argv[1:]]) + "\n")
        state = json.loads((folder / "state.json").read_text())
        answer = globals()[name](state, sys.argv[1:])
        (folder / "state.json").write_text(json.dumps(state))
    n_queued = len(state["jobs"])
    if name == "sbatch" and "--parsable" in sys.argv and state["kill_at"] == n_queued:
        os.kill(os.getppid(), signal.SIGKILL)  # it is in the queue, and nobody has read its id
    out, err, code = answer
    sys.stdout.write(out)
    sys.stderr.write(err)
    sys.exit(code)


if __name__ == "__main__":
    main()
