"""What SLURM 22.05 printed, recorded, and commands that say it again."""

from pathlib import Path

from ragmend.slurm.commands import Slurm

CONFIG = """\
Configuration data as of 2026-12-01T00:35:09
AccountingStorageEnforce = none
AccountingStorageHost   = localhost
AccountingStorageTRES   = cpu,mem,energy,node,billing,fs/disk,vmem,pages
AccountingStorageType   = accounting_storage/none
ClusterName             = ragmend
EnforcePartLimits       = NO
JobRequeue              = 1
KillWait                = 30 sec
MaxArraySize            = 1001
MaxJobCount             = 10000
PreemptMode             = REQUEUE
PreemptType             = preempt/partition_prio
SLURM_VERSION           = 22.05.8

Cgroup Support Configuration:
AllowedKmemSpace        = (null)
ConstrainCores          = no

Slurmctld(primary) at login is UP
"""
ACCOUNTING = CONFIG.replace("accounting_storage/none", "accounting_storage/slurmdbd").replace(
    "Enforce = none", "Enforce = associations,limits,qos"
)

PARTITION = (
    "PartitionName={name} AllowGroups=ALL AllowAccounts=ALL AllowQos=ALL AllocNodes=ALL "
    "Default={default} QoS=N/A DefaultTime=00:10:00 DisableRootJobs=NO ExclusiveUser=NO "
    "GraceTime=0 Hidden=NO MaxNodes=UNLIMITED MaxTime=1-00:00:00 MinNodes=0 LLN=NO "
    "MaxCPUsPerNode=UNLIMITED Nodes=node[1-2] PriorityJobFactor=1 PriorityTier=10 RootOnly=NO "
    "ReqResv=NO OverSubscribe=NO OverTimeLimit=NONE PreemptMode=OFF State=UP TotalCPUs=16 "
    "TotalNodes=2 SelectTypeParameters=NONE JobDefaults=(null) DefMemPerCPU=1000 "
    "MaxMemPerNode=UNLIMITED TRES=cpu=16,mem=500G,node=2,billing=16,gres/gpu=8"
)
GPU = PARTITION.format(name="gpu", default="YES")
CPU = PARTITION.format(name="cpu", default="NO")

NODE = (
    "NodeName={name} Arch=x86_64 CoresPerSocket=8  CPUAlloc=0 CPUEfctv=8 CPUTot=8 CPULoad=0.45 "
    "AvailableFeatures=(null) ActiveFeatures=(null) Gres=gpu:a100:4 NodeAddr=127.0.0.1 "
    "NodeHostName=login Port=24011 Version=22.05.8 OS=Linux 6.18.44 #1 SMP PREEMPT_DYNAMIC @0  "
    "RealMemory=256000 AllocMem=0 FreeMem=19847 Sockets=1 Boards=1 State=IDLE ThreadsPerCore=1 "
    "TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A Partitions=gpu,cpu  "
    "BootTime=2026-11-30T08:45:16 SlurmdStartTime=2026-12-01T00:32:18 "
    "CfgTRES=cpu=8,mem=250G,billing=8,gres/gpu=4 AllocTRES= CapWatts=n/a CurrentWatts=0 "
    "AveWatts=0 ExtSensorsJoules=n/s ExtSensorsWatts=0 ExtSensorsTemp=n/s"
)
NODE_1 = NODE.format(name="node1")
NODE_2 = NODE.format(name="node2")

ASSOCIATIONS = "lab||long,normal||10:00:00|50|\nroot||long,normal||10:00:00|50|\n"
DEFAULT_ACCOUNT = "lab\n"
QUALITIES = (
    "normal||||||\n"
    "long|DenyOnLimit,PartitionTimeLimit|2-00:00:00|30|cpu=4,gres/gpu=2,mem=64G|gres/gpu=4|"
    "cpu=100,mem=1536G\n"
)


def say_again(
    folder: Path,
    *,
    config: str = CONFIG,
    partitions: tuple[str, ...] = (GPU, CPU),
    nodes: tuple[str, ...] = (NODE_1, NODE_2),
    associations: str | None = None,
    default_account: str = DEFAULT_ACCOUNT,
    qualities: str = QUALITIES,
    queue: str = "",
) -> Slurm:
    """Return commands that print these; without `associations` there is no sacctmgr."""
    answers = {
        "scontrol-config": config,
        "scontrol-partition": "\n".join(partitions) + "\n",
        "scontrol-node": "\n".join(nodes) + "\n",
        "squeue-": queue,
    }
    if associations is not None:
        answers |= {
            "sacctmgr-assoc": associations,
            "sacctmgr-user": default_account,
            "sacctmgr-qos": qualities,
        }
    for name, text in answers.items():
        (folder / name).write_text(text)
    for command in {name.partition("-")[0] for name in answers}:
        script = folder / command
        script.write_text(_SCRIPT.format(folder=folder, command=command))
        script.chmod(0o755)
    return Slurm({"PATH": str(folder)})  # no command of this machine


# Prints the file that is named after the word that follows `show`.
_SCRIPT = """\
#!/bin/sh
what=
while [ $# -gt 0 ]; do
  if [ "$1" = show ]; then what=$2; fi
  shift
done
exec /bin/cat "{folder}/{command}-$what"
"""
