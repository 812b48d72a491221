#!/usr/bin/env bash
# Stops the cluster of SLURM_TEST_ROOT: its jobs, then those daemons whose pid files lie in that
# folder. PURGE=1 removes the folder too.
set -uo pipefail

root=${SLURM_TEST_ROOT:-/tmp/ragmend-slurm}
export SLURM_CONF=$root/slurm.conf

main() {
  if [ -s "$root/slurmctld.pid" ]; then end_jobs; fi
  stop slurmctld "$root/slurmctld.pid"
  for pidfile in "$root"/slurmd.*.pid; do stop slurmd "$pidfile"; done
  gone
  stop slurmdbd "$root/slurmdbd.pid"
  gone
  stop mariadbd "$root/mariadbd.pid"
  stop munged "$root/munged.pid"
  gone
  if [ "${PURGE:-0}" = 1 ]; then rm -rf "$root"; fi
}

# Daemons that stop leave their jobs running.
end_jobs() {
  timeout 10 scancel --quiet --signal=KILL --full --user="$(id -un)" 2>/dev/null
  timeout 10 scancel --quiet --user="$(id -un)" 2>/dev/null
  for _ in $(seq 100); do
    [ -n "$(timeout 5 squeue -h 2>/dev/null)" ] || return
    sleep 0.1
  done
}

stopped=()
stop() {  # NAME PIDFILE: end the process of the pid file, if it is that program
  local name=$1 pidfile=$2 pid
  [ -s "$pidfile" ] || return
  pid=$(cat "$pidfile")
  rm -f "$pidfile"
  runs "$pid" && [ "$(cat "/proc/$pid/comm")" = "$name" ] || return
  # A daemon that has nothing to save is not asked: slurmctld takes seconds to end.
  if [ "${PURGE:-0}" = 1 ]; then kill -KILL "$pid"; else kill "$pid"; fi
  stopped+=("$pid")
}

gone() {  # wait for those that were stopped: ten seconds, then KILL
  local pid
  for pid in "${stopped[@]}"; do
    for _ in $(seq 100); do
      runs "$pid" || continue 2
      sleep 0.1
    done
    kill -KILL "$pid"
  done
  stopped=()
}

# A process that has ended and that nobody has waited for yet does not run.
runs() { grep -qs '^State:[[:space:]]*[^ZX[:space:]]' "/proc/$1/status"; }

main
