# shellcheck shell=bash
# Everything around the one command of a task. A job script sets `python` (the interpreter) and
# `run` (the run folder), sources this file, and then says
#
#   live "$python" -P -m ragmend …
#
# SLURM sends USR1 some time before the time limit (#SBATCH --signal=B:USR1@120). The command then
# saves and ends with 75, "not finished", and the task puts itself back into the queue, `lives`
# times in all. TERM comes from scancel and from preemption: the command saves and ends with 75
# too, but whether the task comes back is SLURM's to say.
set -euo pipefail

: "${python:?the interpreter}" "${run:?the run folder}" "${SLURM_JOB_ID:?a job of SLURM}"
lives=${lives:-20}
# Unset in the first life.
life=$((${SLURM_RESTART_COUNT:-0} + 1))
# Of an array this task alone: SLURM_JOB_ID of its last task is the id of the whole array.
task=$SLURM_JOB_ID
if [ -n "${SLURM_ARRAY_JOB_ID:-}" ]; then
  task=${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}
fi

# What sbatch --export said is not to reach the steps of this job.
unset SLURM_EXPORT_ENV
# Since SLURM 22.05 srun no longer takes --cpus-per-task from the job.
export SRUN_CPUS_PER_TASK="${SLURM_CPUS_PER_TASK:-1}"
# A second thread slows the small fits of this package down; parallelism is by process.
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1

# Compile caches race on a shared disk: they lie on the node's own, and go with the task.
if ! scratch=$(mktemp -d "${TMPDIR:-/tmp}/ragmend-$task-XXXXXX"); then
  echo "job $task: no scratch folder on $(hostname): TMPDIR must name one that is writable there" >&2
  exit 1
fi
export TRITON_CACHE_DIR="$scratch/triton"
export VLLM_CACHE_ROOT="$scratch/vllm"
export TORCHINDUCTOR_CACHE_DIR="$scratch/torchinductor"

say() { printf '%(%Y-%m-%d %H:%M:%S)T job %s: %s\n' -1 "$task" "$*"; }

end() {
  local code=$?
  rm -rf "$scratch"
  say "ended with $code after $SECONDS s"
}
trap end EXIT

child='' asked='' signals=0

# USR1 or TERM has come: to this script, and so to the command.
pass() {
  signals=$((signals + 1))
  # TERM is the last word: after it SLURM, not this task, decides whether there is another life.
  if [ "$asked" != TERM ]; then asked=$1; fi
  say "$1 comes"
  if [ -n "$child" ]; then kill -s "$1" "$child" 2>/dev/null || true; fi
}
trap 'pass USR1' USR1
trap 'pass TERM' TERM

say "task ${SLURM_ARRAY_TASK_ID:-0} of ${SLURM_JOB_NAME:-ragmend} on $(hostname), life $life of" \
  "$lives, GPUs ${CUDA_VISIBLE_DEVICES:-none}"

# A requeued task's former life has ended, by SLURM's word: its locks are its own.
if [ "$life" -gt 1 ] && [ -d "$run" ]; then
  "$python" -P -m ragmend unlock "$run" --slurm-job "$SLURM_JOB_ID"
fi

# COMMAND…: run it, pass USR1 and TERM on to it, and go back to the queue where it is not finished.
live() {
  local code=75
  # Not begun at all, where the signal came first.
  if [ -z "$asked" ]; then
    # bash runs a trap only between commands, or while it waits for a child in the background.
    "$@" &
    child=$!
    code=0
    await || code=$?
    child=''
  fi
  if [ -n "$asked" ] && is_end_by_signal "$code"; then code=75; fi
  if [ "$code" -ne 75 ]; then return "$code"; fi
  case $asked in
    USR1) come_back ;;
    TERM) say "asked to end: saved, not finished" ;;
    *) say "not finished" ;;
  esac
  return 75
}

# Wait for the child and return its code; a signal ends a wait, but not the child.
await() {
  local code before
  while true; do
    before=$signals code=0
    wait "$child" || code=$?
    if [ "$signals" -eq "$before" ]; then return "$code"; fi
  done
}

# Of a command that saves as it goes: the signal itself ended it, before it listened or when it no
# longer did; or it ended by itself at that moment, and bash has lost the code (wait says -1 or 127).
is_end_by_signal() {
  case $1 in
    $((128 + $(kill -l USR1))) | $((128 + $(kill -l TERM))) | 127 | 255) return 0 ;;
    *) return 1 ;;
  esac
}

# One more life for this task, or the end of the job where it has none left.
come_back() {
  if [ "$life" -ge "$lives" ]; then
    say "not finished, and its $lives lives are used up; \`ragmend submit --resume\` goes on"
    exit 1
  fi
  say "not finished: back to the queue for life $((life + 1))"
  if ! scontrol requeue "$task"; then
    say "SLURM refuses to requeue; \`ragmend submit --resume\` goes on"
  fi
}
