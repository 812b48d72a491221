"""SLURM: plain job scripts that a cluster user can read, and what fills them in and submits them.

SLURM is the engine. Nothing here schedules, polls or tries again what SLURM can; whether a task is
complete is told by the stage's own files.
"""
