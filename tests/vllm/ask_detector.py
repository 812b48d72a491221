"""Asks one detector behind a server and in this process; run in the environment of vllm.

Usage: python ask_detector.py URL BASE ADAPTER BROKEN < {"quantization": …, "dtype": …}

Prints JSON: by name, what each answered to the same pairs ("plain": in process as served; "base":
that without the adapter; "whole": that without quantisation), and how far its log-probabilities
of first tokens are from the server's; what the server said of itself; how a detector with a broken
adapter answered.
"""

import json
import random
import sys
from pathlib import Path
from urllib.request import ProxyHandler, Request, build_opener

import torch
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM

from ragmend.detector.qlora.adapter_server import adapter_name
from ragmend.detector.qlora.rows import asked_prompt
from ragmend.detector.qlora.served import open_served
from ragmend.detector.qlora.tokens import load_coder
from ragmend.detector.training.job import Job, Pair
from ragmend.errors import ServerError
from ragmend.records import Response, Source
from ragmend.sections.models import ClientConfig, ModelConfig
from ragmend.sections.training import Recipe, TrainedModelConfig

N_PROMPTS = 16
TOWNS = (
    "Ash Birch Cedar Elm Fir Hazel Larch Maple Oak Pine Rowan Spruce Teak Vine Willow Yew".split()
)


def make_pairs():
    return [
        Pair(
            Response(
                record_id=str(n),
                source_id=str(n // 4),
                generator="none",
                text=f"{town} opened {n} new libraries near the river in the spring.",
                split="test",
            ),
            Source(
                source_id=str(n // 4),
                task_type="Summary",
                text=f"The town hall opened a library with {n // 4} chairs. " * 8,
            ),
        )
        for n, town in enumerate(TOWNS)
    ]


def make_mixed_prompts():
    """Make prompts of any tokens: their answers differ more than those about alike sources."""
    drawn = random.Random(0)
    return [[drawn.randrange(3, 2000) for _ in range(60)] for _ in range(N_PROMPTS)]


def make_job(base, settings):
    model = ModelConfig(id="org/tiny", folder=base, **settings)
    return Job(
        name="tiny",
        trained=TrainedModelConfig(model=model),
        recipe=Recipe(max_length=1024, answer_tokens=24),
        seed=1,
        trackers=(),
        folder=Path("unused"),
    )


class Plain:
    """A model in this process, with an adapter that is added to each layer as peft adds it."""

    def __init__(self, job, adapter, coder):
        self.coder, self.n = coder, job.recipe.answer_tokens
        dtype = getattr(torch, job.trained.model.dtype)
        self.model = AutoModelForCausalLM.from_pretrained(job.trained.model.folder, dtype=dtype)
        self.model.eval()
        if job.trained.model.quantization:
            quantise(self.model)
        if adapter is not None:
            self._adapt(load_file(adapter / "adapter_model.safetensors"), adapter)

    def _adapt(self, tensors, folder):
        settings = json.loads((folder / "adapter_config.json").read_text())
        scale = settings["lora_alpha"] / settings["r"]
        for name, module in self.model.named_modules():
            place = f"base_model.model.{name}"
            if f"{place}.lora_A.weight" in tensors:
                pair = (tensors[f"{place}.lora_{side}.weight"] for side in "AB")
                module.register_forward_hook(added(*pair, scale))

    @torch.no_grad()
    def write(self, ids):
        """Write greedily; `margin` is the least by which a token won, in logits."""
        own, margin = [], float("inf")
        while len(own) < self.n and not (own and own[-1] in self.coder.end_ids):
            logits = self.model(torch.tensor([ids + own])).logits[0, -1].float()
            best, second = logits.topk(2).values.tolist()
            margin = min(margin, best - second)
            own.append(int(logits.argmax()))
        text, ended = self.coder.text_of(own), own[-1] in self.coder.end_ids
        return {"text": text, "n_tokens": len(own), "ended": ended, "margin": margin}

    @torch.no_grad()
    def distance(self, prompts, served):
        """Return how far the probable first tokens' log-probabilities are apart, on average."""
        apart = []
        for ids, told in zip(prompts, served, strict=True):
            own = self.model(torch.tensor([ids])).logits[0, -1].float().log_softmax(-1)
            apart += [abs(own[token].item() - logprob) for token, logprob in told.items()]
        return sum(apart) / len(apart)


def added(a, b, scale):
    def hook(module, inputs, output):
        return output + ((inputs[0].float() @ a.T @ b.T) * scale).to(output.dtype)

    return hook


@torch.no_grad()
def quantise(model):
    """Put the 4-bit weights' values in the place of every linear layer's own but the head's."""
    from bitsandbytes.functional import dequantize_4bit, quantize_4bit

    for name, module in model.named_modules():
        if isinstance(module, torch.nn.Linear) and name != "lm_head":
            four_bits = quantize_4bit(module.weight, quant_type="nf4", compress_statistics=True)
            module.weight.copy_(dequantize_4bit(*four_bits))


def post(url, path, body):
    request = Request(
        f"{url}/{path}", json.dumps(body).encode(), {"content-type": "application/json"}
    )
    with build_opener(ProxyHandler({})).open(request) as answer:
        return answer.read()


def first_tokens(url, name, ids):
    """Return the log-probabilities of the most probable first tokens, by id."""
    asked = {"max_tokens": 1, "temperature": 0, "logprobs": 20, "return_tokens_as_token_ids": True}
    answer = json.loads(post(url, "completions", {"model": name, "prompt": ids, **asked}))
    (told,) = answer["choices"][0]["logprobs"]["top_logprobs"]
    return {int(token.removeprefix("token_id:")): logprob for token, logprob in told.items()}


def ask_broken(url, job, broken, coder, pairs):
    """Load the broken adapter into the running server, under its name, and ask it."""
    name = adapter_name(job, broken)
    post(url, "load_lora_adapter", {"lora_name": name, "lora_path": str(broken)})
    try:
        with open_served(job, broken, url, ClientConfig(max_tries=2), coder=coder) as predictor:
            answers = predictor.answer(pairs)
    except ServerError as error:
        return str(error)
    return [answer.model_dump(mode="json") for answer in answers]


def main():
    url, base, *adapters = sys.argv[1:]
    adapter, broken = map(Path, adapters)
    job, pairs = make_job(base, json.load(sys.stdin)), make_pairs()
    coder = load_coder(job, to_ask_a_server=True)
    with open_served(job, adapter, url, ClientConfig(concurrency=8), coder=coder) as predictor:
        served = predictor.answer(pairs)
    found = {"served": [answer.model_dump(mode="json") for answer in served]}
    prompts = [asked_prompt(pair, coder, job.recipe).ids for pair in pairs]
    whole = make_job(base, {"dtype": job.trained.model.dtype})
    mixed = make_mixed_prompts()
    served = [first_tokens(url, adapter_name(job, adapter), ids) for ids in mixed]
    found["distance"] = {}
    plain = {"plain": (job, adapter), "base": (job, None), "whole": (whole, adapter)}
    for name, (of, own) in plain.items():
        model = Plain(of, own, coder)
        found[name] = [model.write(ids) for ids in prompts]
        found["distance"][name] = model.distance(mixed, served)
    found["facts"] = predictor.facts
    found["broken"] = ask_broken(url, job, broken, coder, pairs)
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
