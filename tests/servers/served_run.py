"""Runs of the demonstration with a language model behind a server in every role."""

from pathlib import Path

from ragmend.cli.experiment import open_experiment

CONFIG = """
name = "models"
[data]
kind = "demo"
[detector]
kind = "lexical"
[population]
limit = {limit}
[verifier]
backend = "openai"
[verifier.model]
id = "some/Tiny"
served_name = "tiny"
[rewriter]
backend = "openai"
max_tokens = 200
[rewriter.model]
id = "some/Tiny"
served_name = "tiny"
[judges]
primary = "one"
[[judges.panel]]
name = "one"
backend = "openai"
max_tokens = 300
[judges.panel.model]
id = "some/Tiny"
served_name = "tiny"
[[judges.panel]]
name = "two"
backend = "openai"
output = "json-schema"
max_tokens = 300
[judges.panel.model]
id = "other/Tiny"
served_name = "tiny"
endpoint = "completions"
[[judges.panel]]
name = "overlap"
[analysis]
figure_formats = []
[servers]
verifier = "{url}"
rewriter = "{url}"
one = "{url}"
two = "{url}"
[client]
concurrency = 16
max_tries = 30
backoff_s = 0.001
max_backoff_s = 0.005
timeout_s = 1.0
deadline_s = 60.0
"""
UP_TO = {  # the stages that ask language models, and what holds their decisions
    "verify": "05-verdicts/verdicts.jsonl",
    "propose": "06-candidates/candidates.jsonl",
    "judge": "08-judgements/judgements.jsonl",
}
STAGES = ("detect", "select", "split", "match", "verify", "propose", "assemble", "judge")


class Served:
    """A run of the demonstration against one server; `run` goes as far as it gets."""

    def __init__(self, server, folder, *, limit=19):
        self.server, self.root = server, Path(folder)
        self.config = self.root.with_suffix(".toml")
        self.config.write_text(CONFIG.format(url=server.url, limit=limit))

    def open(self, *overrides, **more):
        """Open the experiment, with settings changed."""
        return open_experiment(str(self.config), self.root, overrides, **more)

    def run(self, *overrides, last="judge", **more):
        """Run all stages up to one."""
        for stage in STAGES[: STAGES.index(last) + 1]:
            self.open(*overrides, **more).run(only=stage)

    def decisions(self):
        """Return the bytes of every record file of a decision that is there."""
        files = (*UP_TO.values(), "06-candidates/rewrites.jsonl", "07-arms/answers.jsonl")
        paths = [self.root / file for file in files]
        return {path.name: path.read_bytes() for path in paths if path.is_file()}
