"""Trains in a process of its own, which is killed after so many steps: `stdin` says what."""

import os
import signal
import sys
from pathlib import Path

from pydantic import BaseModel

from ragmend.detector.tokens.kind import TOKEN_CLASSIFICATION
from ragmend.detector.training.job import Job, Pair
from ragmend.records import Response, Source
from ragmend.sections.training import Recipe, TrainedModelConfig


class Order(BaseModel):
    """What is trained, and after which step the process dies."""

    trained: TrainedModelConfig
    recipe: Recipe
    seed: int
    folder: Path
    responses: list[Response]
    sources: list[Source]
    die_after: int


class Deadly:
    """Is asked after each step, and kills the process as `kill -9` does."""

    def __init__(self, die_after):
        self.left = die_after

    def should_stop(self):
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return False

    def say(self, text):
        pass


if __name__ == "__main__":
    order = Order.model_validate_json(sys.stdin.read())
    job = Job("tiny", order.trained, order.recipe, order.seed, (), order.folder)
    pairs = [Pair(*both) for both in zip(order.responses, order.sources, strict=True)]
    TOKEN_CLASSIFICATION.fit(job, pairs, [pairs], Deadly(order.die_after))
