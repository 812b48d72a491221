"""How a model in this process was used."""

from dataclasses import asdict, dataclass

from pydantic import JsonValue


@dataclass
class Usage:
    """Counts since the model was opened.

    Attributes:
        n_requests: Prompts that were answered.
        n_prompt_tokens: Their tokens.
        n_tokens: Generated tokens.
        n_reused_tokens: Those prompt tokens that were in the cache and so not computed again.
    """

    n_requests: int = 0
    n_prompt_tokens: int = 0
    n_tokens: int = 0
    n_reused_tokens: int = 0

    def add(self, *, n_prompt_tokens: int, n_reused_tokens: int, n_tokens: int = 0) -> None:
        """Count one answered prompt."""
        self.n_requests += 1
        self.n_prompt_tokens += n_prompt_tokens
        self.n_reused_tokens += n_reused_tokens
        self.n_tokens += n_tokens

    def describe(self) -> str:
        """Say how much of the prompts was reused, for a line of progress; "" before the first."""
        if not self.n_prompt_tokens:
            return ""
        return f"prefix reuse {self.n_reused_tokens / self.n_prompt_tokens:.0%}".replace("%", " %")

    def as_json(self) -> dict[str, JsonValue]:
        """Return the counts, for the manifest."""
        return asdict(self)
