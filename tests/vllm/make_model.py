"""Makes a small Llama with random weights; run in the environment of vllm, which has all it needs.

Usage: python make_model.py FOLDER TEXT_FILE...
"""

import sys
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

FORMS = [f"{space}{word}" for word in "Yes yes YES No no NO".split() for space in ("", " ")]
SPECIAL = ["<|pad|>", "<|im_start|>", "<|im_end|>"]
# A model without any preference would never end the strings and lists of its JSON.
BLANKS = {" ": -8.0, "\t": -8.0, "\n": -8.0, "\r": -8.0}
FAVOURED = {'"': 5.0, "]": 5.0, "}": 5.0, **BLANKS}
TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n"
    "{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def make_tokenizer(texts):
    """Train a byte-level BPE in which every form of Yes and No is one token."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=2048,
        special_tokens=SPECIAL,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator([*FORMS * 1000, *texts], trainer)
    for form in FORMS:
        if len(tokenizer.encode(form).ids) != 1:
            sys.exit(f"{form!r} is not one token")
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=SPECIAL[0],
        eos_token=SPECIAL[2],
        chat_template=TEMPLATE,
    )


def make_model(tokenizer):
    """Make a model whose weights are large enough for answers that differ from prompt to prompt."""
    torch.manual_seed(0)
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=64,
            intermediate_size=128,
            num_hidden_layers=2,
            num_attention_heads=2,
            num_key_value_heads=1,
            head_dim=32,  # vLLM's attention on a CPU wants a multiple of 32
            max_position_embeddings=16384,
            initializer_range=0.2,
            bos_token_id=None,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
            tie_word_embeddings=False,
        )
    )
    favour(model, {tokenizer.encode(text)[0]: by for text, by in FAVOURED.items()})
    return model.eval()


@torch.no_grad()
def favour(model, logits):
    """Raise the logits of a few tokens everywhere, by about so much.

    The first dimension becomes a constant: each token brings it, and no layer changes it.
    """
    model.model.embed_tokens.weight[:, 0] = 1.0
    for layer in model.model.layers:
        layer.self_attn.o_proj.weight[0] = 0.0
        layer.mlp.down_proj.weight[0] = 0.0
    model.lm_head.weight[:, 0] = 0.0
    everything = torch.arange(model.config.vocab_size)[None]
    constant = model.model(everything).last_hidden_state[0, :, 0].mean()
    for token, by in logits.items():
        model.lm_head.weight[token, 0] = by / constant


def main():
    folder, *files = sys.argv[1:]
    tokenizer = make_tokenizer(Path(file).read_text(encoding="utf-8") for file in files)
    tokenizer.save_pretrained(folder)
    make_model(tokenizer).save_pretrained(folder)


if __name__ == "__main__":
    main()
