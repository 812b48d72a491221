"""Token ids of prompts and targets: one function of training and of use; they cannot differ.

A prompt begins with the token for the beginning where the tokenizer itself begins a text with it,
exactly once; a target ends with the token that ends an answer. The two are never tokenised
together: what is asked is, token for token, what was trained on.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

from ragmend.detector.qlora.libraries import require_libraries
from ragmend.detector.training.job import Job
from ragmend.errors import ConfigError
from ragmend.llm.in_process.loading import explain_failures, place_of
from ragmend.sections.training import Recipe

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


class Coder(NamedTuple):
    """A tokenizer with what a detector takes from it.

    Attributes:
        tokenizer: The base's own.
        begin_id: The token that begins every prompt; None of a tokenizer that has none.
        end_id: The token that ends every target.
        end_ids: All tokens that end what is generated, that one included.
        pad_id: The token that fills batches up; none of `end_ids`.
    """

    tokenizer: "PreTrainedTokenizerBase"
    begin_id: int | None
    end_id: int
    end_ids: frozenset[int]
    pad_id: int

    def prompt_ids(self, text: str) -> list[int]:
        """Return the tokens of a prompt, in training and in use."""
        begin = [] if self.begin_id is None else [self.begin_id]
        return begin + self._encode(text)

    def target_ids(self, text: str) -> list[int]:
        """Return the tokens of a target, with that which ends it."""
        return [*self._encode(text), self.end_id]

    def text_of(self, ids: list[int]) -> str:
        """Return the text of generated tokens, without special ones and otherwise as it is."""
        text: str = self.tokenizer.decode(
            ids, skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        return text

    def name_of(self, token_id: int) -> str:
        """Return how the tokenizer writes a token."""
        return str(self.tokenizer.convert_ids_to_tokens(token_id))

    def _encode(self, text: str) -> list[int]:
        # Data hold no special token (`as_data`), and here none would be read as one.
        ids: list[int] = self.tokenizer.encode(
            text, add_special_tokens=False, split_special_tokens=True
        )
        return ids


def load_coder(job: Job, *, to_ask_a_server: bool = False) -> Coder:
    """Load the tokenizer of a job's base; no weights are read.

    Args:
        job: The training.
        to_ask_a_server: Nothing is computed here: torch need not be there.

    Raises:
        ConfigError: The base's context is shorter than `recipe.max_length`, no token ends an
            answer, or none can be its padding.
        MissingInputError: As opening the base model.
    """
    model = job.trained.model
    require_libraries(model, to_ask_a_server=to_ask_a_server)
    from transformers import AutoConfig, AutoTokenizer

    place = place_of(model)
    source = {"revision": model.revision, "local_files_only": True, "trust_remote_code": False}
    with explain_failures(model, place):
        settings = AutoConfig.from_pretrained(place, **source)
        tokenizer = AutoTokenizer.from_pretrained(place, **source)
        end_ids = _generation_end_ids(place, settings, source)
    _check_context(job, settings)
    return make_coder(tokenizer, end_ids, job.recipe)


def make_coder(
    tokenizer: "PreTrainedTokenizerBase", end_ids: frozenset[int], recipe: Recipe
) -> Coder:
    """Find out what a tokenizer begins, ends and fills up with.

    Args:
        tokenizer: The base's own; its padding token is set to the one that is found.
        end_ids: What the base's generation settings end with, besides the tokenizer's own.
        recipe: May name the padding token.

    Raises:
        ConfigError: As `load_coder`.
    """
    end_id = tokenizer.eos_token_id
    if end_id is None:
        raise ConfigError(
            f"{tokenizer.name_or_path}: its tokenizer has no token that ends an answer "
            "(eos_token): a detector would never learn to stop"
        )
    all_ends = end_ids | {int(end_id)}
    pad_id = choose_pad(tokenizer, all_ends, recipe)
    tokenizer.pad_token = tokenizer.convert_ids_to_tokens(pad_id)
    return Coder(tokenizer, _begin_id(tokenizer), int(end_id), all_ends, pad_id)


def choose_pad(
    tokenizer: "PreTrainedTokenizerBase", end_ids: frozenset[int], recipe: Recipe
) -> int:
    """Return the padding token: one that ends no answer, and that is there already.

    What is padding has no loss, so a detector whose end token is its padding may never learn to
    stop; and a new token would need an embedding that no base has. In this order: the recipe's,
    the tokenizer's own, the one for unknown text, any other special token but that for the
    beginning.

    Raises:
        ConfigError: The recipe's is unknown or ends an answer, or none is found.
    """
    if recipe.pad_token is not None:
        return _configured_pad(tokenizer, end_ids, recipe.pad_token)
    others = [n for n in tokenizer.all_special_ids if n != tokenizer.bos_token_id]
    for found in (tokenizer.pad_token_id, tokenizer.unk_token_id, *others):
        if found is not None and found not in end_ids:
            return int(found)
    raise ConfigError(
        f"{tokenizer.name_or_path}: no token can be its padding: {tokenizer.all_special_tokens} "
        "begin a text or end an answer. Name one of its vocabulary that no text contains as "
        "`recipe.pad_token`"
    )


def _configured_pad(
    tokenizer: "PreTrainedTokenizerBase", end_ids: frozenset[int], token: str
) -> int:
    found = tokenizer.get_vocab().get(token)
    if found is None:
        raise ConfigError(
            f"recipe.pad_token {token!r} is not in the vocabulary of {tokenizer.name_or_path}; no "
            "token is added, for the base has no embedding of it"
        )
    if found in end_ids:
        raise ConfigError(
            f"recipe.pad_token {token!r} ends an answer of {tokenizer.name_or_path}: a detector "
            "would not learn to stop; name another token, or leave it out"
        )
    return int(found)


def _begin_id(tokenizer: "PreTrainedTokenizerBase") -> int | None:
    """Return the token with which the tokenizer begins any text by itself."""
    begin = tokenizer.bos_token_id
    first = tokenizer.encode("a", add_special_tokens=True)[:1]
    return int(begin) if begin is not None and first == [begin] else None


def _generation_end_ids(place: str, settings: Any, source: dict[str, Any]) -> frozenset[int]:  # noqa: ANN401
    """Return the tokens with which the base's own settings end what is generated."""
    from transformers import GenerationConfig

    try:
        found = GenerationConfig.from_pretrained(place, **source).eos_token_id
    except OSError:  # it has no such file: the model's own settings say it then
        found = GenerationConfig.from_model_config(settings).eos_token_id
    ids = found if isinstance(found, list | tuple) else [found]
    return frozenset(int(n) for n in ids if n is not None)


def _check_context(job: Job, settings: Any) -> None:  # noqa: ANN401 - a transformers config
    told = getattr(settings.get_text_config(), "max_position_embeddings", None)
    limits = [n for n in (told, job.trained.model.max_model_len) if n is not None]
    if limits and job.recipe.max_length > min(limits):
        raise ConfigError(
            f"recipe.max_length is {job.recipe.max_length}, but {job.trained.model.id} has a "
            f"context of {min(limits)} tokens; lower it"
        )
