"""Trains in a process of its own, which can be killed: `python train_in_child.py ORDER.json`."""

import json
import signal
import sys
import time
from pathlib import Path

from ragmend.detector.qlora.kind import GENERATIVE
from ragmend.detector.training.job import Job, Pair
from ragmend.errors import PreemptedError
from ragmend.records import Response, Source
from ragmend.sections.training import Recipe, TrainedModelConfig


class Watch:
    """Says after each step that it waits a moment, so that a signal comes in the middle."""

    def __init__(self):
        self._is_asked = False
        signal.signal(signal.SIGTERM, self._ask)

    def should_stop(self):
        time.sleep(0.3)
        return self._is_asked

    def say(self, text):
        pass

    def _ask(self, number, frame):
        self._is_asked = True


def main(order):
    job = Job(
        name=order["name"],
        trained=TrainedModelConfig.model_validate_json(order["trained"]),
        recipe=Recipe.model_validate_json(order["recipe"]),
        seed=order["seed"],
        trackers=(),
        folder=Path(order["folder"]),
    )
    pairs = [
        Pair(Response.model_validate_json(response), Source.model_validate_json(source))
        for response, source in order["pairs"]
    ]
    try:
        GENERATIVE.fit(job, pairs, list(GENERATIVE.batches(job, pairs)), Watch())
    except PreemptedError as error:
        sys.stderr.write(f"{error}\n")
        return 75
    return 0


if __name__ == "__main__":
    sys.exit(main(json.loads(Path(sys.argv[1]).read_text())))
