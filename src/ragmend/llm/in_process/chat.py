"""From a prompt's two turns to token ids, by the model's own chat template."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from pydantic import JsonValue

from ragmend.errors import ConfigError
from ragmend.llm.protocol import Prompt

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

_PROBE = Prompt("Probe of the first turn.", "Probe of the second turn.")
_OURS = ("tokenize", "add_generation_prompt", "return_dict", "conversation", "chat_template")


class Chat(NamedTuple):
    """A tokenizer with its chat template.

    Attributes:
        tokenizer: The model's.
        kwargs: What the template is told.
        folds_system: Whether the first turn becomes the beginning of the second, because the
            template refuses it, as Gemma's, or leaves it out.
    """

    tokenizer: "PreTrainedTokenizerBase"
    kwargs: Mapping[str, JsonValue]
    folds_system: bool

    def encode(self, prompt: Prompt) -> list[int]:
        """Return the prompt's token ids, up to where the answer begins.

        They come straight from the template, which writes the special tokens itself: a rendered
        text that is tokenised later gets a second token for its beginning.
        """
        ids = self.tokenizer.apply_chat_template(
            self._turns(prompt),
            tokenize=True,
            add_generation_prompt=True,
            return_dict=False,
            **self.kwargs,
        )
        return list(ids)

    def render(self, prompt: Prompt) -> str:
        """Return the text that is tokenised."""
        text = self.tokenizer.apply_chat_template(
            self._turns(prompt), tokenize=False, add_generation_prompt=True, **self.kwargs
        )
        return str(text)

    def _turns(self, prompt: Prompt) -> Sequence[Mapping[str, str]]:
        system, user = prompt
        if system and self.folds_system:
            system, user = "", f"{system}\n\n{user}"
        turns = [{"role": "user", "content": user}]
        return [{"role": "system", "content": system}, *turns] if system else turns


def open_chat(
    tokenizer: "PreTrainedTokenizerBase", kwargs: Mapping[str, JsonValue], *, model: str
) -> Chat:
    """Find out by one probe whether the chat template has a first turn of its own.

    Args:
        tokenizer: The model's.
        kwargs: What the template is told.
        model: The model's name, for messages.

    Raises:
        ConfigError: There is no template, or it renders neither form, or `kwargs` is not for it.
    """
    if taken := sorted(set(kwargs) & set(_OURS)):
        raise ConfigError(f"{model}: chat_template_kwargs.{taken[0]} is not a setting of templates")
    if not tokenizer.chat_template:
        raise ConfigError(
            f"{model}: its tokenizer has no chat template; take a model that was tuned on chats"
        )
    chat = Chat(tokenizer, kwargs, folds_system=False)
    if _failure(chat) is None:
        return chat
    folding = chat._replace(folds_system=True)
    if failure := _failure(folding):
        raise ConfigError(f"{model}: its chat template cannot render a prompt ({failure})")
    return folding


def _failure(chat: Chat) -> str | None:
    """Say why the template does not show both turns; None where it does."""
    from jinja2 import TemplateError

    try:
        rendered = chat.render(_PROBE)
    except (TemplateError, ValueError, TypeError) as error:
        return str(error) or type(error).__name__
    missing = [turn for turn in _PROBE if turn not in rendered]
    return f"it leaves out {missing[0]!r}" if missing else None
