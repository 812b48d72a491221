"""What SLURM's words for states and reasons mean, and what helps."""

from typing import NamedTuple


class Meaning(NamedTuple):
    """A word of SLURM's for people: what it means, and what helps, if anything."""

    text: str
    helps: str | None = None


# Why a job waits; by the word before a comma or bracket.
REASONS = {
    "": Meaning("waits to be looked at"),
    "None": Meaning("waits to be looked at"),
    "Priority": Meaning("waits behind jobs of higher priority"),
    "Resources": Meaning("waits for free resources"),
    "Dependency": Meaning("waits for jobs before it"),
    "DependencyNeverSatisfied": Meaning(
        "can never start: a job that it needs has failed", "ragmend submit RUN --resume"
    ),
    "BeginTime": Meaning("was queued again and starts in a moment"),
    "JobHeldUser": Meaning("is held", "scontrol release JOB"),
    "JobHeldAdmin": Meaning("is held by an administrator", "ask your cluster's support"),
    "JobArrayTaskLimit": Meaning("waits for other tasks of its array (max_running)"),
    "launch failed requeued held": Meaning(
        "could not be launched and is held", "look at its node, then scontrol release JOB"
    ),
    "PartitionDown": Meaning("its partition is down", "wait, or another partition"),
    "PartitionInactive": Meaning("its partition is inactive", "wait, or another partition"),
    "PartitionTimeLimit": Meaning(
        "asks for more time than its partition allows", "lower `time` in the cluster file"
    ),
    "PartitionNodeLimit": Meaning(
        "asks for more nodes than its partition has", "another partition"
    ),
    "PartitionConfig": Meaning(
        "asks for what its partition does not allow", "look at scontrol show partition"
    ),
    "ReqNodeNotAvail": Meaning(
        "needs nodes that are down, drained or reserved (maintenance?)",
        "sinfo -R says why; a shorter `time` may fit before a maintenance",
    ),
    "NodeDown": Meaning("a node that it needs is down", "sinfo -R says why"),
    "BadConstraints": Meaning(
        "no node fulfils what it asks for", "look at `constraint`, `gpu_type`, `memory_gb`"
    ),
    "Reservation": Meaning("waits for its reservation to begin"),
    "ReservationDeleted": Meaning("its reservation is gone", "leave `reservation` out"),
    "InvalidAccount": Meaning("its account is not valid", "correct `account`"),
    "InvalidQOS": Meaning("its QOS is not valid", "correct `qos`"),
    "Licenses": Meaning("waits for a licence"),
    "Cleaning": Meaning("its last start is being cleaned up"),
    "Prolog": Meaning("its node is being prepared"),
}
_LIMITS = {
    "Job": "jobs",
    "Submit": "submitted jobs",
    "GRES": "GPUs",
    "Cpu": "CPUs",
    "CPU": "CPUs",
    "Mem": "memory",
    "Node": "nodes",
    "Wall": "time",
    "Min": "a total of CPU or GPU minutes",
    "Billing": "what is billed",
}

STATES = {
    "BOOT_FAIL": "its node did not boot",
    "CANCELLED": "was cancelled",
    "COMPLETED": "has ended well",
    "COMPLETING": "is ending",
    "CONFIGURING": "its node is being prepared",
    "DEADLINE": "missed its deadline",
    "FAILED": "has failed",
    "NODE_FAIL": "its node failed",
    "OUT_OF_MEMORY": "had not enough memory",
    "PENDING": "waits",
    "PREEMPTED": "gave way to other jobs",
    "REQUEUED": "is queued again",
    "REQUEUE_HOLD": "is queued again and held",
    "RESIZING": "is being resized",
    "RUNNING": "runs",
    "SIGNALING": "is being signalled",
    "SPECIAL_EXIT": "has ended in a special way and is held",
    "STAGE_OUT": "is ending",
    "STOPPED": "is stopped",
    "SUSPENDED": "is suspended",
    "TIMEOUT": "met its time limit",
}
HELPS = {
    "OUT_OF_MEMORY": "raise `memory_gb`, then ragmend submit RUN --resume",
    "TIMEOUT": "ragmend submit RUN --resume goes on; a longer `time` needs fewer starts",
    "NODE_FAIL": "ragmend submit RUN --resume",
    "PREEMPTED": "ragmend submit RUN --resume",
    "CANCELLED": "ragmend submit RUN --resume",
    "FAILED": "its log says why; put that right, then ragmend submit RUN --resume",
    "DEADLINE": "ragmend submit RUN --resume",
    "BOOT_FAIL": "ragmend submit RUN --resume",
}


def explain_reason(reason: str) -> Meaning:
    """Return why a job waits, in words; a word that is not known is shown as it is.

    Args:
        reason: As `squeue` prints it: "ReqNodeNotAvail, UnavailableNodes:n1".
    """
    own = reason.partition(",")[0].partition("(")[0].strip()
    if own in REASONS:
        return REASONS[own]
    if own.startswith(("QOS", "Assoc", "Max")):
        what = next((words for mark, words in _LIMITS.items() if mark in own), "a limit")
        whose = "QOS" if own.startswith("QOS") else "account"
        return Meaning(f"waits for a limit of the {whose}: {what} ({own})")
    return Meaning(f"waits ({reason})")


def explain_state(state: str) -> str:
    """Return what a state means; a word that is not known is shown as it is."""
    return STATES.get(state, f"is in state {state}")
