"""What tests of submissions share: the cluster file, and the jobs of the demonstration."""

CLUSTER = """
name = "here"
signal_lead_s = 20
[environments.base]
python = {python}
[resources.default]
partition = "cpu"
time = "00:05:00"
cpus = 1
[shards]
verify = 3
propose = 2
judge = 2
"""
JOBS = [
    "detect", "select", "split", "match", "verify", "verify-fold", "rewrite", "verify-edits",
    "propose-fold", "assemble", "judge-overlap", "judge-numbers-names", "judge-sentence-support",
    "judge-fold", "analyze", "report",
]  # fmt: skip


def alive(fake):
    return [job for job in fake.jobs if job["state"] in ("PENDING", "RUNNING")]


def finish(fake, state="COMPLETED"):
    fake.set_jobs(lambda job: job.update(state=state))
