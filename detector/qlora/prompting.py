"""The prompt of the generative detector: plain text for every model, the same in every use.

Base models have no chat template, and a detector is to be comparable across bases, so none is
used: instruction and data follow each other, and the target follows a line break, for a space
would merge with the first token of what is to be written.
"""

from ragmend.detector.training.job import Pair
from ragmend.llm.prompts import PromptFile, load_prompt

NO_QUESTION = "(none)"


def detect_prompt() -> PromptFile:
    """Return the prompt file of the generative detector."""
    return load_prompt("ragmend.detector.qlora.prompts", "detect")


def prompt_text(pair: Pair, source: str) -> str:
    """Return the prompt about a pair, which ends with a line break.

    Args:
        pair: The response, and the source whose task and question are named.
        source: The source as the prompt is to show it, whole or shortened.
    """
    prompt = detect_prompt().render(
        task=pair.source.task_type,
        source=source,
        question=pair.source.question or NO_QUESTION,
        answer=pair.response.text,
    )
    return f"{prompt.system}\n\n{prompt.user}\n"
