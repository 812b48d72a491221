"""Tiny random Llamas and tokenizers, made on the spot: nothing is downloaded."""

from pathlib import Path

WORDS = (
    "Does the answer say anything that the source does not support? Write one JSON object:",
    '{"hallucinated": true, "spans": ["the library"]}',
    '{"hallucinated": false, "spans": []}',
    "The library opens at nine and closes at five on every day of the week.",
    "<task>\nQA\n</task>\n<source>\npassage 1: the book\n</source>\n",
    "<question>\n(none)\n</question>",
    "<answer>\nThe museum is free of charge on Sundays.\n</answer>\nSummary Data2txt name address",
)
BYTES = [f"<0x{number:02X}>" for number in range(256)]


def make_llama_folder(folder, tokenizer, *, seed=0, **settings):
    """Make a Llama of some 100,000 weights, in float32."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    sizes = {
        "vocab_size": len(tokenizer),
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "num_key_value_heads": 2,
        "head_dim": 32,
        "max_position_embeddings": 2048,
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
        "initializer_range": 0.2,  # a head that is never trained must be able to be sure
    }
    torch.manual_seed(seed)
    model = LlamaForCausalLM(LlamaConfig(**{**sizes, **settings}))
    model.to(torch.float32).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return Path(folder)


def make_byte_level():
    """Train a byte-level tokenizer; its padding token is its own."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=480,
        special_tokens=["<|pad|>", "<|begin|>", "<|end|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(WORDS * 4, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<|begin|>",
        eos_token="<|end|>",
        pad_token="<|pad|>",
    )


def make_byte_fallback():
    """Train a tokenizer as Llama-2's: spaces as "▁", bytes for what it lacks, BOS by itself."""
    from tokenizers import Tokenizer, decoders, models, normalizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    )
    tokenizer.decoder = decoders.Sequence(
        [
            decoders.Replace("▁", " "),
            decoders.ByteFallback(),
            decoders.Fuse(),
            decoders.Strip(" ", 1, 0),
        ]
    )
    trainer = trainers.BpeTrainer(
        vocab_size=560, special_tokens=["<unk>", "<s>", "</s>", *BYTES], show_progress=False
    )
    tokenizer.train_from_iterator(WORDS * 4, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A <s> $B", special_tokens=[("<s>", 1)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", unk_token="<unk>"
    )
