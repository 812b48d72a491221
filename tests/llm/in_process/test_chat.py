"""From turns to token ids; the tokenizer is a stand-in, its templates are real."""

import jinja2
import pytest

from ragmend.errors import ConfigError
from ragmend.llm.in_process.chat import open_chat
from ragmend.llm.protocol import Prompt

PLAIN = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}<answer>"
NO_SYSTEM = (
    "{% for m in messages %}{% if m.role == 'system' %}{{ fail('System role not supported') }}"
    "{% endif %}<{{ m.role }}>{{ m.content }}{% endfor %}<answer>"
)
DROPS_SYSTEM = (
    "{% for m in messages %}{% if m.role == 'user' %}<user>{{ m.content }}{% endif %}{% endfor %}"
)
PROMPT = Prompt("Check it.", "A claim.")


class Tokenizer:
    """Its tokens are characters."""

    def __init__(self, template):
        self.chat_template = template

    def apply_chat_template(
        self, turns, *, tokenize, add_generation_prompt, return_dict=False, **kwargs
    ):
        assert add_generation_prompt
        assert not return_dict

        def fail(message):
            raise jinja2.TemplateError(message)

        text = jinja2.Template(self.chat_template).render(messages=turns, fail=fail, **kwargs)
        return [ord(character) for character in text] if tokenize else text


def open_with(template, kwargs=None):
    return open_chat(Tokenizer(template), kwargs or {}, model="org/tiny")


def test_both_turns_go_through_the_template_and_its_ids_come_back():
    chat = open_with(PLAIN)
    assert chat.render(PROMPT) == "<system>Check it.<user>A claim.<answer>"
    assert "".join(map(chr, chat.encode(PROMPT))) == chat.render(PROMPT)


@pytest.mark.parametrize("template", [NO_SYSTEM, DROPS_SYSTEM])
def test_a_template_without_a_system_turn_gets_it_folded_into_the_users(template):
    chat = open_with(template)
    assert chat.folds_system
    assert "<user>Check it.\n\nA claim." in chat.render(PROMPT)


def test_an_empty_system_text_is_no_turn():
    assert open_with(PLAIN).render(Prompt("", "A claim.")) == "<user>A claim.<answer>"


def test_the_template_is_told_what_the_configuration_says():
    template = PLAIN + "{% if enable_thinking %}<think>{% endif %}"
    assert open_with(template, {"enable_thinking": True}).render(PROMPT).endswith("<think>")
    assert open_with(template, {"enable_thinking": False}).render(PROMPT).endswith("<answer>")


def test_a_setting_that_is_not_the_templates_is_refused():
    with pytest.raises(ConfigError, match=r"chat_template_kwargs.tokenize"):
        open_with(PLAIN, {"tokenize": False})


def test_a_model_without_a_chat_template_is_refused():
    with pytest.raises(ConfigError, match="org/tiny: its tokenizer has no chat template"):
        open_with(None)


def test_a_template_that_shows_no_user_turn_is_refused():
    with pytest.raises(ConfigError, match="cannot render a prompt"):
        open_with("nothing")
