"""Checks of what is about to be submitted, against what the cluster has.

SLURM itself takes jobs that can never start, and lets them wait: a time beyond the partition's, an
account's limit. `sbatch --test-only` finds the rest; here is what it lets pass, and what it says in
words that name no key of the cluster file.
"""
