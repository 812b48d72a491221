"""Sections about language models: which one, how its server is asked, how one is started."""

import re
from typing import Annotated, Literal, Self

from pydantic import Field, JsonValue, model_validator

from ragmend.records import Name
from ragmend.sections.section import Section

SECRET_WORDS = frozenset(
    "APIKEY CREDENTIAL CREDENTIALS KEY PASSPHRASE PASSWD PASSWORD SECRET TOKEN".split()
)

Seconds = Annotated[float, Field(gt=0.0, le=604_800.0, allow_inf_nan=False)]
VariableName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]


class ModelConfig(Section):
    """The language model behind one role, down to what changes its answers."""

    id: Name
    """Its full repository id, as in "Qwen/Qwen2.5-7B-Instruct"."""
    revision: Name | None = None
    """The commit of that repository. No server tells it: it holds for what `ragmend serve` and
    the in-process backend load."""
    dtype: Literal["auto", "float16", "bfloat16", "float32"] = "auto"
    """Number type of the weights; no server tells it either."""
    quantization: Literal["awq", "gptq", "bitsandbytes", "fp8"] | None = None
    """How the weights are quantised; None: as the repository has them."""
    max_model_len: Annotated[int, Field(ge=64)] | None = None
    """The context in tokens. A server with another is refused; None: whatever it has."""
    endpoint: Literal["chat", "completions"] = "chat"
    """`completions` sends token ids, which the server has made of the same chat: for servers whose
    chat endpoint gives no log-probabilities."""
    chat_template_kwargs: dict[str, JsonValue] = Field(default_factory=dict)
    """What the chat template is told, as {enable_thinking = false}."""
    folder: str | None = None
    """Where the weights lie on this machine, for `ragmend serve` and the in-process backend; None:
    in the cache of the hub, under `id` and `revision`."""
    served_name: Name | None = None
    """The name under which a server has it; None: `id`."""
    api_key_env: VariableName | None = None
    """The environment variable with the server's key; None: it wants none."""
    tensor_parallel_size: Annotated[int, Field(ge=1)] = 1
    """GPUs that `ragmend serve` spreads it over."""
    threads: Annotated[int, Field(ge=1)] = 1
    """Threads of the in-process backend."""

    @property
    def name_on_server(self) -> str:
        """The name to ask a server for."""
        return self.served_name or self.id

    @property
    def family(self) -> str:
        """The model's family in small letters: "qwen" of "Qwen/Qwen2.5-32B-Instruct"."""
        own = self.id.rstrip("/").rpartition("/")[2].lower().removeprefix("meta-")
        letters = own[: next((n for n, c in enumerate(own) if not c.isalpha()), len(own))]
        return letters or own

    def identity(self) -> dict[str, JsonValue]:
        """Return all of it that changes answers, for the lock and the journals' keys."""
        fields = ("id", "revision", "dtype", "quantization", "max_model_len", "endpoint")
        return self.model_dump(mode="json", include={*fields, "chat_template_kwargs"})


class ClientConfig(Section):
    """How servers are asked; none of it changes an answer."""

    concurrency: Annotated[int, Field(ge=1, le=1024)] = 16
    """Requests in flight at once, at most."""
    live_sources: Annotated[int, Field(ge=1)] = 4
    """Sources whose requests are in flight at once, at most: a server's prefix cache then holds
    them all."""
    timeout_s: Seconds = 300.0
    """How long one try may take."""
    deadline_s: Seconds = 1800.0
    """How long one request may take with all its tries."""
    max_tries: Annotated[int, Field(ge=1, le=100)] = 6
    """How often a request is tried while its faults are transient."""
    backoff_s: Annotated[float, Field(ge=0.0, le=3600.0)] = 1.0
    """The wait before the second try; it doubles each time, and half of it is random."""
    max_backoff_s: Annotated[float, Field(ge=0.0, le=3600.0)] = 60.0
    """The longest wait."""


class ServeConfig(Section):
    """How `ragmend serve` and `ragmend run --serve` start a vLLM server."""

    python: str | None = None
    """The interpreter of the environment that vllm is installed in; None: ragmend's own."""
    gpu_memory_utilization: Annotated[float, Field(gt=0.0, le=1.0)] | None = None
    """The share of a GPU's memory that vLLM takes; None: vLLM's own choice."""
    enforce_eager: bool = False
    """Whether CUDA graphs and compilation are left out."""
    environment: dict[VariableName, str] = Field(default_factory=dict)
    """Variables of the server's process, as VLLM_CPU_KVCACHE_SPACE = "1" on a CPU. They stand in
    the run's configuration, so none may be a secret."""
    inherit: tuple[VariableName, ...] = ()
    """Secrets of ragmend's own environment that the server gets too, by name, as ("HF_TOKEN",)."""
    ready_s: Seconds = 1800.0
    """How long a server may take until it answers."""
    stop_s: Seconds = 30.0
    """How long it may take to end before it is killed."""

    @model_validator(mode="after")
    def _has_no_secrets(self) -> Self:
        for name in filter(is_secret, self.environment):
            raise ValueError(f"`environment` would write {name} to disk: name it in `inherit`")
        return self


def is_secret(variable: str) -> bool:
    """Tell whether a variable's name says that its value is nobody else's business."""
    return not SECRET_WORDS.isdisjoint(re.split(r"[_\d]+", variable.upper()))
