"""Tiny random encoders with tokenizers of their own, made on the spot."""

from pathlib import Path

SPECIAL = {"pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]", "unk_token": "[UNK]",
           "mask_token": "[MASK]"}  # fmt: skip
TEXT = (
    "Task: QA Summary Question: When does the library open? Source:",
    "The library opens at nine and closes at five on every day of the week.",
    "It stands on the market square, beside the old bridge, and has two floors.",
    "The library closes at noon. It has seven floors. The bridge is made of steel.",
)


def make_encoder(folder, architecture, *, seed=0, **settings):
    import torch
    from transformers import AutoConfig, AutoModelForMaskedLM
    from transformers.utils import logging

    logging.disable_progress_bar()
    tokenizer = _make_tokenizer(architecture)
    sizes = {
        "vocab_size": len(tokenizer), "hidden_size": 32, "intermediate_size": 48,
        "num_hidden_layers": 2, "num_attention_heads": 2, "max_position_embeddings": 512,
        "pad_token_id": 0, "bos_token_id": 1, "cls_token_id": 1, "eos_token_id": 2,
        "sep_token_id": 2,
    }  # fmt: skip
    torch.manual_seed(seed)
    config = AutoConfig.for_model(architecture, **{**sizes, **settings})
    # As bases come: with the layers that guess masked words, without those that classify.
    AutoModelForMaskedLM.from_config(config).to(torch.float32).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return Path(folder)


def _make_tokenizer(architecture):
    from tokenizers import processors
    from transformers import PreTrainedTokenizerFast

    make = {"modernbert": _make_bpe, "bert": _make_wordpiece}[architecture]
    tokenizer = make(list(SPECIAL.values()))
    second = ":1" if architecture == "bert" else ""
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair=f"[CLS] $A [SEP] $B{second} [SEP]{second}",
        special_tokens=[("[CLS]", 1), ("[SEP]", 2)],
    )
    names = ["input_ids", "attention_mask"]
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_input_names=[*names, "token_type_ids"] if architecture == "bert" else names,
        **SPECIAL,
    )


def _make_bpe(special):
    """Make a byte-level tokenizer that composes accents, as ModernBERT's."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=420, special_tokens=special, show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )  # fmt: skip
    tokenizer.train_from_iterator(TEXT * 4, trainer)
    return tokenizer


def _make_wordpiece(special):
    """Make a tokenizer that lowers letters, strips accents and drops control characters."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(vocab_size=300, special_tokens=special, show_progress=False)
    tokenizer.train_from_iterator(TEXT * 4, trainer)
    return tokenizer
