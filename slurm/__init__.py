"""SLURM job scripts; plain files that a cluster user can read and submit by hand."""
