#!/usr/bin/env bash
# A real SLURM on this machine, for tests: munge, slurmctld and a few nodes that are daemons on
# loopback. Nothing is emulated but the hardware: CPUs and memory are what NODES, CPUS say, a GPU
# is a clone of /dev/null. No cgroups, so no memory kills and no binding. Needs Debian and root.
#
#   tests/slurm/start.sh && . /tmp/ragmend-slurm/env.sh && sinfo
#
# From the environment:
#   SLURM_TEST_ROOT  folder of everything of this cluster (/tmp/ragmend-slurm)
#   SLURM_TEST_PORT  first of its ports (16800): +0 slurmctld, +1 slurmdbd, +11 and on the nodes;
#                    two clusters with two roots and ports 100 apart live side by side
#   NODES CPUS GPUS  nodes, and CPUs and GPUs of each (2 8 4); the GPUs are of the type a100
#   MAXARRAY         MaxArraySize: an array's index stays below it (1001)
#   ENFORCE          EnforcePartLimits: NO, ANY or ALL (NO, as SLURM itself has it)
#   ACCT             1: slurmdbd and MariaDB too, so that sacct, accounts and QOS exist (0)
#   KILLWAIT         seconds from TERM to KILL, whatever ends a job (5)
#   GRACE            seconds that a job is left alone before it is preempted (0)
#   REQUEUE          JobRequeue: 0 for a cluster that requeues nothing unless a job asks (1)
#
# Partitions: gpu (default), cpu: the same nodes, of high priority. preempt, precancel: the same
# nodes, of low priority; a job of the first two requeues those of one, cancels those of the other.
set -euo pipefail

root=${SLURM_TEST_ROOT:-/tmp/ragmend-slurm}
port=${SLURM_TEST_PORT:-16800}
nodes=${NODES:-2} cpus=${CPUS:-8} gpus=${GPUS:-4}
accounting=${ACCT:-0}
host=$(hostname -s)
me=$(id -un)
export SLURM_CONF=$root/slurm.conf

main() {
  install_missing_packages
  if answers; then
    echo "already up: . $root/env.sh"
    return
  fi
  mkdir -p "$root"/{log,munge,state,dev}
  chmod 755 "$root"
  chmod 700 "$root/munge" "$root/state"
  getent hosts "$host" >/dev/null || echo "127.0.0.1 $host" >>/etc/hosts
  write_slurm_conf
  write_gres_conf
  echo "export SLURM_CONF=$SLURM_CONF" >"$root/env.sh"
  start_munge
  if [ "$accounting" = 1 ]; then
    start_mariadb
    start_slurmdbd
    add_accounts
  fi
  is_alive "$root/slurmctld.pid" slurmctld || slurmctld -i
  start_nodes
  if ! within 30 answers; then
    echo "SLURM did not come up in 30 s; the ends of its logs:" >&2
    tail -n 8 "$root"/log/*.log >&2
    exit 1
  fi
  echo "up: . $root/env.sh"
}

# --- packages -----------------------------------------------------------------------------------

install_missing_packages() {
  local package missing=() wanted=(slurmctld slurmd slurm-client munge)
  if [ "$accounting" = 1 ]; then wanted+=(slurmdbd mariadb-server); fi
  for package in "${wanted[@]}"; do
    is_installed "$package" || missing+=("$package")
  done
  if [ "${#missing[@]}" -eq 0 ]; then return; fi
  echo "installing ${missing[*]}"
  # One installation at a time, should several tests come here at once.
  (
    flock 9
    local own_policy=
    if [ ! -e /usr/sbin/policy-rc.d ]; then
      # dpkg is not to start the daemons: they are started below, with this cluster's files.
      own_policy=/usr/sbin/policy-rc.d
      printf '#!/bin/sh\nexit 101\n' >"$own_policy"
      chmod +x "$own_policy"
    fi
    export DEBIAN_FRONTEND=noninteractive
    local log="${TMPDIR:-/tmp}/ragmend-slurm-packages.log" failed=0
    { apt-get update -qq && apt-get install -y -qq --no-install-recommends "${missing[@]}"; } \
      >"$log" 2>&1 9>&- || failed=$?
    if [ -n "$own_policy" ]; then rm -f "$own_policy"; fi
    if [ "$failed" -ne 0 ]; then
      tail -n 20 "$log" >&2
      exit "$failed"
    fi
  ) 9>"${TMPDIR:-/tmp}/ragmend-slurm-packages.lock"
}

is_installed() { dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q '^install ok installed'; }

# --- files --------------------------------------------------------------------------------------

write_slurm_conf() {
  local storage=accounting_storage/none node
  if [ "$accounting" = 1 ]; then storage=accounting_storage/slurmdbd; fi
  {
    cat <<CONF
ClusterName=ragmend
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmUser=$me
SlurmdUser=$me
# A requeued job waits until its old credential has expired, by default for two minutes.
AuthType=auth/munge
AuthInfo=socket=$root/munge.sock,cred_expire=5
CredType=cred/munge
StateSaveLocation=$root/state
SlurmdSpoolDir=$root/spool.%n
SlurmctldPidFile=$root/slurmctld.pid
SlurmdPidFile=$root/slurmd.%n.pid
SlurmctldLogFile=$root/log/slurmctld.log
SlurmdLogFile=$root/log/slurmd.%n.log
# Loopback only; and no cgroups.
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SwitchType=switch/none
MpiDefault=none
# More CPUs and memory than the machine has.
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SlurmdParameters=config_overrides
GresTypes=gpu
ReturnToService=2
KillWait=${KILLWAIT:-5}
OverTimeLimit=0
InactiveLimit=0
MinJobAge=3600
MaxJobCount=10000
MaxArraySize=${MAXARRAY:-1001}
EnforcePartLimits=${ENFORCE:-NO}
JobRequeue=${REQUEUE:-1}
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
# Seconds matter here and load does not: look for jobs to start after every event.
SchedulerParameters=${SCHEDULER:-batch_sched_delay=0,sched_min_interval=0,sched_interval=1,bf_interval=1}
JobCompType=jobcomp/filetxt
JobCompLoc=$root/log/jobcomp.txt
AccountingStorageType=$storage
CONF
    if [ "$accounting" = 1 ]; then
      cat <<CONF
AccountingStorageHost=127.0.0.1
AccountingStoragePort=$((port + 1))
AccountingStoragePass=$root/munge.sock
AccountingStorageTRES=gres/gpu
AccountingStorageEnforce=associations,limits,qos
AccountingStoreFlags=job_comment
CONF
    fi
    for ((node = 1; node <= nodes; node++)); do
      echo "NodeName=node$node NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 10 + node))" \
        "CPUs=$cpus CoresPerSocket=$cpus RealMemory=256000 Gres=gpu:a100:$gpus State=UNKNOWN"
    done
    local common="Nodes=ALL MaxTime=24:00:00 DefaultTime=10 DefMemPerCPU=1000"
    echo "PartitionName=gpu $common Default=YES PriorityTier=10 PreemptMode=OFF"
    echo "PartitionName=cpu $common PriorityTier=10 PreemptMode=OFF"
    echo "PartitionName=preempt $common PriorityTier=1 PreemptMode=REQUEUE GraceTime=${GRACE:-0}"
    echo "PartitionName=precancel $common PriorityTier=1 PreemptMode=CANCEL GraceTime=${GRACE:-0}"
  } >"$SLURM_CONF"
}

write_gres_conf() {
  local gpu
  # SLURM wants a character device for each; without the right to make one, GPUs are only counted,
  # and CUDA_VISIBLE_DEVICES is then never set.
  local where="File=$root/dev/nvidia[0-$((gpus - 1))]"
  for ((gpu = 0; gpu < gpus; gpu++)); do
    [ -c "$root/dev/nvidia$gpu" ] || mknod "$root/dev/nvidia$gpu" c 1 3 || where="Count=$gpus"
  done
  echo "NodeName=node[1-$nodes] Name=gpu Type=a100 Flags=nvidia_gpu_env $where" >"$root/gres.conf"
}

write_slurmdbd_conf() {
  cat >"$root/slurmdbd.conf" <<CONF
AuthType=auth/munge
AuthInfo=socket=$root/munge.sock
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort=$((port + 1))
SlurmUser=$me
LogFile=$root/log/slurmdbd.log
PidFile=$root/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=$me
StorageLoc=slurm_acct_db
CONF
  chmod 600 "$root/slurmdbd.conf"  # or slurmdbd refuses it
}

# --- daemons ------------------------------------------------------------------------------------

start_munge() {
  [ -s "$root/munge/key" ] || (umask 077 && head -c 128 /dev/urandom >"$root/munge/key")
  is_alive "$root/munged.pid" munged || munged --force --key-file="$root/munge/key" \
    --socket="$root/munge.sock" --pid-file="$root/munged.pid" --seed-file="$root/munge/seed" \
    --log-file="$root/log/munged.log" 2>>"$root/log/munged.err"
}

start_mariadb() {
  if is_alive "$root/mariadbd.pid" mariadbd; then return; fi
  if [ ! -d "$root/mysql/mysql" ]; then
    mkdir -p "$root/mysql"
    mariadb-install-db --no-defaults --user="$me" --datadir="$root/mysql" --skip-test-db \
      --auth-root-authentication-method=socket >"$root/log/mariadb-install.log" 2>&1
  fi
  # On a socket only; the two innodb values are those that slurmdbd asks for.
  setsid mariadbd --no-defaults --user="$me" --datadir="$root/mysql" --skip-networking \
    --socket="$root/mysql.sock" --pid-file="$root/mariadbd.pid" \
    --innodb-buffer-pool-size=128M --innodb-lock-wait-timeout=900 \
    >"$root/log/mariadb.log" 2>&1 </dev/null &
  within 60 mariadb-admin --no-defaults --socket="$root/mysql.sock" ping
}

start_slurmdbd() {
  write_slurmdbd_conf
  is_alive "$root/slurmdbd.pid" slurmdbd || MYSQL_UNIX_PORT=$root/mysql.sock slurmdbd
  within 30 sacctmgr -n show cluster
}

# One account with every user of these tests; jobs of any other account are refused.
add_accounts() {
  [ -n "$(sacctmgr -n show cluster ragmend)" ] || sacctmgr -i -Q add cluster ragmend >/dev/null
  [ -n "$(sacctmgr -n show account lab)" ] || sacctmgr -i -Q add account lab >/dev/null
  if [ -z "$(sacctmgr -n show association user="$me" account=lab)" ]; then
    sacctmgr -i -Q add user "$me" account=lab >/dev/null
  fi
  sacctmgr -i -Q modify user "$me" set defaultaccount=lab >/dev/null || true
}

start_nodes() {
  local node
  for ((node = 1; node <= nodes; node++)); do
    if is_alive "$root/slurmd.node$node.pid" slurmd; then continue; fi
    mkdir -p "$root/spool.node$node"
    slurmd -N "node$node"
  done
}

# --- questions ----------------------------------------------------------------------------------

answers() {
  [ -s "$SLURM_CONF" ] && is_alive "$root/slurmctld.pid" slurmctld || return 1
  local ready
  ready=$(timeout 5 sinfo -h -r -N -p gpu -t idle,mix,alloc -o %N 2>/dev/null | wc -l)
  [ "$ready" = "$nodes" ]
}

is_alive() {  # PIDFILE NAME: the process of the pid file runs and is that program
  local pid
  [ -s "$1" ] && pid=$(cat "$1") || return 1
  # One that has ended and that nobody has waited for yet still has a name.
  grep -qs '^State:[[:space:]]*[^ZX[:space:]]' "/proc/$pid/status" \
    && [ "$(cat "/proc/$pid/comm")" = "$2" ]
}

within() {  # SECONDS COMMAND…: try the command until it succeeds
  local until=$((SECONDS + $1))
  shift
  while ! "$@" >/dev/null 2>&1; do
    if [ "$SECONDS" -ge "$until" ]; then return 1; fi
    sleep 0.1
  done
}

main
