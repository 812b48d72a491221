"""What a model in this process gains by keeping what it computed of a source, and what it costs.

The claims of one source are scored twice: by the in-process backend, and by one plain forward pass
of transformers over the whole prompt for each. Both run on one thread; passes alternate, and the
fastest of each counts. Before each pass of the backend another prompt is asked, so that its first
claim finds nothing of the source. Answers are compared by every label's log-probability.

The model is that in the folder which `RAGMEND_SMOLLM2` names, else a random one made on the spot.
"""

import asyncio
import os
from collections.abc import Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, NamedTuple

from bench.figures import Figure, not_measured
from bench.random_model import make_random_model
from bench.verifying import claims_to_ask
from ragmend.llm.in_process.opening import InProcessModel, open_in_process
from ragmend.llm.labels import LABEL_FORMS
from ragmend.llm.protocol import Prompt
from ragmend.sections.models import ModelConfig

VARIABLE = "RAGMEND_SMOLLM2"
LIBRARIES = ("torch", "transformers")
N_CLAIMS = 12
SAME = 1e-4
UNRELATED = Prompt("", "Yes or No?")

Logprobs = dict[str, float]


class Chosen(NamedTuple):
    """A model's folder, what it is called, and how often both ways are timed."""

    folder: Path
    name: str
    repeats: int


class Timed(NamedTuple):
    """The log-probabilities of the labels for each claim, and the seconds that they took."""

    logprobs: list[Logprobs]
    seconds: float


def in_process_figures() -> Iterator[Figure]:
    """Measure the backend against plain forward passes."""
    faster = f"claims of a source in this process: KV cache reused to naive, {N_CLAIMS} claims"
    same = "claims of a source in this process: greatest difference in log-probability from naive"
    missing = [name for name in LIBRARIES if find_spec(name) is None]
    if missing:
        reason = f"{missing[0]} is not installed"
        yield not_measured(faster, reason, limit=1)
        yield not_measured(same, reason, bound="at most", limit=SAME)
        return
    with TemporaryDirectory() as made:
        folder, name, repeats = _choose_model(Path(made))
        reused, naive = asyncio.run(score_both_ways(folder, repeats=repeats))
    yield Figure(f"{faster}, {name}", naive.seconds / reused.seconds, "x faster", "at least", 1)
    yield Figure(f"{same}, {name}", greatest_difference(reused, naive), "", "at most", SAME)


def _choose_model(made: Path) -> Chosen:
    if given := os.environ.get(VARIABLE):
        return Chosen(Path(given), Path(given).name, repeats=1)  # a real one takes its time
    make_random_model(made, (p.user for asked in claims_to_ask("made") for p in asked.prompts()))
    return Chosen(made, "random model", repeats=2)


async def score_both_ways(folder: Path, *, repeats: int) -> tuple[Timed, Timed]:
    """Score the claims of one source by the backend and by plain forward passes."""
    work = claims_to_ask("in-process")
    longest = max((asked.source for asked in work), key=lambda source: len(str(source)))
    prompts = [p for asked in work if asked.source == longest for p in asked.prompts()][:N_CLAIMS]
    model = ModelConfig(id="model", folder=str(folder), dtype="float32")
    all_reused: list[Timed] = []
    all_naive: list[Timed] = []
    async with open_in_process(model, label_forms=LABEL_FORMS) as opened:
        naive = NaiveModel(folder, n_threads=model.threads)
        for _ in range(repeats):
            all_reused.append(await _score_reusing(opened, prompts))
            all_naive.append(naive.score(prompts, list(all_reused[-1].logprobs[0])))
    return _fastest(all_reused), _fastest(all_naive)


def _fastest(passes: Sequence[Timed]) -> Timed:
    return min(passes, key=lambda timed: timed.seconds)


async def _score_reusing(opened: InProcessModel, prompts: Sequence[Prompt]) -> Timed:
    await opened.score_labels(UNRELATED)
    start = perf_counter()
    scores = [await opened.score_labels(prompt) for prompt in prompts]
    return Timed([each.logprobs for each in scores], perf_counter() - start)


class NaiveModel:
    """transformers without anything around it."""

    def __init__(self, folder: Path, *, n_threads: int) -> None:
        """Load the model of a folder."""
        self._torch: Any = import_module("torch")
        transformers: Any = import_module("transformers")
        self._n_threads = n_threads
        self._tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype="float32")
        device = "cuda" if self._torch.cuda.is_available() else "cpu"
        self._model = model.eval().to(device)

    def score(self, prompts: Sequence[Prompt], forms: Sequence[str]) -> Timed:
        """Score labels by one forward pass a prompt."""
        self._torch.set_num_threads(self._n_threads)
        start = perf_counter()
        logprobs = [self._score_one(prompt, forms) for prompt in prompts]
        return Timed(logprobs, perf_counter() - start)

    def _score_one(self, prompt: Prompt, forms: Sequence[str]) -> Logprobs:
        turns = [
            {"role": "system", "content": prompt.system},
            {"role": "user", "content": prompt.user},
        ]
        ids = self._tokenizer.apply_chat_template(
            turns, add_generation_prompt=True, return_dict=False, return_tensors="pt"
        ).to(self._model.device)
        with self._torch.inference_mode():
            output = self._model(input_ids=ids, use_cache=False, logits_to_keep=1)
            every = self._torch.log_softmax(output.logits[0, -1].float(), dim=-1)
        encoded = {form: self._tokenizer.encode(form, add_special_tokens=False) for form in forms}
        return {form: float(every[tokens[0]]) for form, tokens in encoded.items()}


def greatest_difference(first: Timed, second: Timed) -> float:
    """Return the greatest absolute difference of any label's log-probability, in nats."""
    pairs = zip(first.logprobs, second.logprobs, strict=True)
    return max(abs(one[form] - other[form]) for one, other in pairs for form in one)
