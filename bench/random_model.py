"""A random Llama with a chat template and a tokenizer of its own: nothing is downloaded.

It is large enough that arithmetic takes the time of an answer, not the calls that start it.
"""

from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

from ragmend.llm.labels import LABEL_FORMS

BEGIN, END = "<|im_start|>", "<|im_end|>"
TEMPLATE = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content']"
    " + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
N_TOKENS = 2_000  # of the vocabulary
OFTEN = 1_000  # so often do the labels stand in the tokenizer's texts: each becomes one token
SIZES = {
    "hidden_size": 256, "intermediate_size": 768, "num_hidden_layers": 6,
    "num_attention_heads": 8, "num_key_value_heads": 4, "max_position_embeddings": 8192,
    "initializer_range": 0.05,  # the usual .02 would make all tokens nearly equally probable
}  # fmt: skip


def make_random_model(folder: Path, texts: Iterable[str]) -> None:
    """Write a model to a folder, always the same one.

    Args:
        folder: Where to.
        texts: What its tokenizer is trained on.
    """
    torch: Any = import_module("torch")
    transformers: Any = import_module("transformers")
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=_train_tokenizer(texts),
        bos_token=BEGIN,
        eos_token=END,
        pad_token=END,
        chat_template=TEMPLATE,
    )
    import_module("transformers.utils.logging").disable_progress_bar()
    torch.manual_seed(0)
    ids = {name: tokenizer.convert_tokens_to_ids(name) for name in (BEGIN, END)}
    config = transformers.LlamaConfig(
        vocab_size=len(tokenizer), bos_token_id=ids[BEGIN], eos_token_id=ids[END], **SIZES
    )
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _train_tokenizer(texts: Iterable[str]) -> object:
    tokenizers: Any = import_module("tokenizers")
    pieces = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer, tokenizer.decoder = pieces, tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=N_TOKENS,
        special_tokens=[BEGIN, END],
        initial_alphabet=pieces.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator([*LABEL_FORMS * OFTEN, *texts], trainer)
    return tokenizer
