"""Sections about the roles: who verifies, who rewrites, who judges."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from ragmend.llm.labels import Scoring
from ragmend.records import Name
from ragmend.sections.models import ModelConfig
from ragmend.sections.section import Section

Backend = Literal["lexical", "openai", "transformers"]
Output = Literal["unconstrained", "json-schema"]
RewriterContext = Literal["fragments-and-source", "fragments"]


class RoleConfig(Section):
    """A role: what answers in it."""

    backend: Backend = "lexical"
    """`lexical`: embedded, without a language model; `openai`: a server with OpenAI's interface,
    vLLM is the reference; `transformers`: a model in this process."""
    model: ModelConfig | None = None
    """The language model; required for every backend but `lexical`, and refused for that."""

    @model_validator(mode="after")
    def _has_a_model_where_needed(self) -> Self:
        if self.backend != "lexical" and self.model is None:
            raise ValueError(f"`model` is required for backend {self.backend!r}")
        if self.backend == "lexical" and self.model is not None:
            raise ValueError("`model` is not allowed for backend 'lexical'")
        return self

    @property
    def language_model(self) -> ModelConfig:
        """The language model of a role that has one."""
        if self.model is None:
            raise RuntimeError("a lexical role has no language model")
        return self.model


class VerifierConfig(RoleConfig):
    """Who says how far a source supports a claim."""

    threshold: Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)] = 0.5
    """A claim is kept when P(support) >= threshold."""
    verify_edit: Literal["claim", "in_context"] = "claim"
    """What pass 2 scores: the edited text alone, or between its neighbours as they stand in the
    original answer (unsupported ones included, which lowers the score)."""
    parameters: str | None = None
    """A parameter file of `ragmend fit-verifier`; None: the one that ships."""
    answer_features: bool = False
    """Whether the embedded verifier also looks at a claim's place in its answer and at the
    answer's length; what an application gets for one claim does not depend on them."""
    scoring: Scoring = "two-token"
    """Which words a language model's P(support) is read from: `two-token`, as published, "Yes" and
    "No"; `all-forms` those with small or capital letters or a leading space too."""
    min_candidate_mass: Annotated[float, Field(ge=0.0, le=1.0)] = 0.5
    """The least P(Yes) + P(No); below it a language model gave no answer, and that is a fault."""
    unstable_within: Annotated[float, Field(ge=0.0, le=0.5)] = 0.01
    """Decisions so near the threshold are counted as unstable: a GPU's batches change the last
    digits of a probability."""

    @model_validator(mode="after")
    def _has_no_lexical_settings_elsewhere(self) -> Self:
        if self.backend != "lexical" and (self.parameters or self.answer_features):
            raise ValueError(
                "`parameters` and `answer_features` are allowed for backend 'lexical' only"
            )
        return self


class RewriterConfig(RoleConfig):
    """Who proposes rewrites for the generative arm.

    The embedded one cuts a claim down to what the source supports, or proposes nothing.
    """

    context: RewriterContext = "fragments-and-source"
    """What a language model sees besides the claim: its evidence, and the whole source or not."""
    output: Output = "unconstrained"
    """`json-schema`: the server constrains the answer to the form that is asked for anyway."""
    max_tokens: Annotated[int, Field(ge=1)] = 256
    """The most tokens of a rewrite; a longer one is a fault."""
    temperature: Annotated[float, Field(ge=0.0, le=2.0)] = 0.0
    """0 is greedy; any other can be repeated in this process only, where the prompt is the seed."""


class JudgeConfig(RoleConfig):
    """One judge of the panel; language models all get the same prompt and answer greedily."""

    name: Name
    """The name in every table; for `lexical`, one of the embedded judges."""
    output: Output = "unconstrained"
    """`json-schema`: the server constrains the answer to the form that is asked for anyway."""
    max_tokens: Annotated[int, Field(ge=1)] = 1024
    """The most tokens of a judgement; a longer one is a fault."""


class JudgesConfig(Section):
    """Who judges the complete answers."""

    panel: Annotated[tuple[JudgeConfig, ...], Field(min_length=1)]
    """The judges, each with a name of its own."""
    primary: Name
    """The judge that drives the per-task tables and the trade-off figure."""

    @model_validator(mode="after")
    def _has_its_primary_once(self) -> Self:
        names = [judge.name for judge in self.panel]
        if len(set(names)) != len(names):
            raise ValueError(f"judge names must differ, found {names}")
        if self.primary not in names:
            raise ValueError(f"the primary judge {self.primary!r} is none of {names}")
        if taken := {"verifier", "rewriter"} & set(names):
            raise ValueError(f"{min(taken)!r} is a role, no name for a judge")
        return self
