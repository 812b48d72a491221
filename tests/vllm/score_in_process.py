"""Scores label forms by a plain forward pass; run in the environment of vllm.

Usage: python score_in_process.py FOLDER < {"prompts": [[system, user], …], "forms": […]}
"""

import json
import sys

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer


def main():
    asked = json.load(sys.stdin)
    tokenizer = AutoTokenizer.from_pretrained(sys.argv[1])
    model = AutoModelForCausalLM.from_pretrained(sys.argv[1], dtype=torch.float32).eval()
    ids = {form: tokenizer.encode(form, add_special_tokens=False) for form in asked["forms"]}
    answers = []
    for system, user in asked["prompts"]:
        turns = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        text = tokenizer.apply_chat_template(turns, add_generation_prompt=True, tokenize=False)
        tokens = tokenizer(text, add_special_tokens=False, return_tensors="pt").input_ids
        with torch.no_grad():
            logprobs = model(tokens).logits[0, -1].log_softmax(-1)
        answers.append({form: logprobs[token].item() for form, (token,) in ids.items()})
    json.dump({"answers": answers, "n_tokens": tokens.shape[1]}, sys.stdout)


if __name__ == "__main__":
    main()
