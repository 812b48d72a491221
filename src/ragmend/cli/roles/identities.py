"""What identifies each role's part: in the lock, in settings, in the journals' keys."""

from pathlib import Path

from pydantic import JsonValue

from ragmend import __version__
from ragmend.config import Config
from ragmend.errors import ConfigError
from ragmend.io import sha256_of_file
from ragmend.judges.panel import JUDGES
from ragmend.judges.prompted import judge_prompt
from ragmend.repair.lexical.parameters import load_parameters, parameters_path
from ragmend.repair.lexical.verifier import verifier_name
from ragmend.repair.prompted.rewriter import rewrite_prompt
from ragmend.repair.prompted.verifier import verify_prompt
from ragmend.repair.rewriting.rewriter import LEXICAL_REWRITER
from ragmend.sections.roles import JudgeConfig, RoleConfig


def verifier_entry(config: Config) -> dict[str, JsonValue]:
    """Return what identifies the verifier."""
    verifier = config.verifier
    if verifier.backend != "lexical":
        fields = {"scoring", "min_candidate_mass"}
        return _model_entry(verifier) | verifier.model_dump(mode="json", include=fields)
    return {
        "backend": verifier.backend,
        "model": verifier_name(use_answer=verifier.answer_features),
        "parameters_sha256": sha256_of_file(verifier_parameters(config)),
        "version": __version__,
    }


def rewriter_entry(config: Config) -> dict[str, JsonValue]:
    """Return what identifies the rewriter."""
    rewriter = config.rewriter
    if rewriter.backend != "lexical":
        fields = {"context", "output", "max_tokens", "temperature"}
        return _model_entry(rewriter) | rewriter.model_dump(mode="json", include=fields)
    return {"backend": rewriter.backend, "model": LEXICAL_REWRITER, "version": __version__}


def judge_entry(judge: JudgeConfig) -> dict[str, JsonValue]:
    """Return what identifies one judge of the panel."""
    if judge.backend != "lexical":
        fields = {"output", "max_tokens"}
        own = judge.model_dump(mode="json", include=fields)
        return {"name": judge.name, **_model_entry(judge), **own}
    return {"name": judge.name, "backend": judge.backend, "version": __version__}


def judge_entries(config: Config) -> list[JsonValue]:
    """Return what identifies each judge of the panel."""
    return [judge_entry(judge) for judge in config.judges.panel]


def prompt_entries(config: Config) -> dict[str, JsonValue]:
    """Return the prompt of each role with a language model; None for one without."""
    prompted = any(judge.backend != "lexical" for judge in config.judges.panel)
    rewriter = config.rewriter
    return {
        "verifier": None if config.verifier.backend == "lexical" else verify_prompt().identity(),
        "rewriter": None
        if rewriter.backend == "lexical"
        else rewrite_prompt(rewriter.context).identity(),
        "judges": judge_prompt().identity() if prompted else None,
    }


def check_roles(config: Config) -> None:
    """Find out before anything is written whether every embedded role can be filled.

    Raises:
        MissingInputError, DataError: The verifier's parameters cannot be read.
        ConfigError: An embedded judge does not exist.
    """
    if config.verifier.backend == "lexical":
        load_parameters(verifier_parameters(config))
    for judge in config.judges.panel:
        check_judge(judge)


def check_judge(judge: JudgeConfig) -> None:
    """Find out whether an embedded judge exists.

    Raises:
        ConfigError: It does not.
    """
    if judge.backend == "lexical" and judge.name not in JUDGES:
        names = ", ".join(JUDGES)
        raise ConfigError(f"judges.panel: no embedded judge {judge.name!r}; there are: {names}")


def fitted_sources(config: Config) -> frozenset[str]:
    """Return the sources that the verifier was fitted on; none of a language model's."""
    if config.verifier.backend != "lexical":
        return frozenset()
    return frozenset(load_parameters(verifier_parameters(config)).fitting.source_ids)


def verifier_parameters(config: Config) -> Path:
    """Return the embedded verifier's parameter file."""
    given = config.verifier.parameters
    return parameters_path() if given is None else Path(given)


def _model_entry(role: RoleConfig) -> dict[str, JsonValue]:
    return {"backend": role.backend, "model": role.language_model.identity()}
