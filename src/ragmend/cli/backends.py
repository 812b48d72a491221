"""From the configuration's words to the parts that answer: one function a role."""

from pathlib import Path

from pydantic import JsonValue

from ragmend import __version__
from ragmend.cli.checked import CheckedVerifier
from ragmend.config import Config
from ragmend.errors import ConfigError
from ragmend.io import sha256_of_file
from ragmend.judges.panel import JUDGES
from ragmend.repair.lexical.parameters import load_parameters, parameters_path
from ragmend.repair.lexical.verifier import LexicalVerifier, verifier_name
from ragmend.repair.rewriting.rewriter import LEXICAL_REWRITER, LexicalRewriter
from ragmend.repair.verification import Rewriter, Verifier


def make_verifier(config: Config) -> Verifier:
    """Build the verifier that the configuration names."""
    return CheckedVerifier(
        LexicalVerifier(
            _parameters(config),
            use_answer=config.verifier.answer_features,
            window=config.evidence.window,
            depth=config.evidence.top_k,
        )
    )


def make_rewriter() -> Rewriter:
    """Build the rewriter; the configuration knows one backend so far and refuses any other."""
    return LexicalRewriter()


def check_backends(config: Config) -> None:
    """Find out before anything is written whether every role can be filled.

    Raises:
        MissingInputError, DataError: The verifier's parameters cannot be read.
        ConfigError: A judge does not exist.
    """
    make_verifier(config)
    judge_entries(config)


def verifier_entry(config: Config) -> dict[str, JsonValue]:
    """Return what identifies the verifier, for the lock, settings and journal keys."""
    return {
        "backend": config.verifier.backend,
        "model": verifier_name(use_answer=config.verifier.answer_features),
        "parameters_sha256": sha256_of_file(_parameters(config)),
        "version": __version__,
    }


def fitted_sources(config: Config) -> frozenset[str]:
    """Return the sources that the verifier was fitted on; none of a language model's."""
    return frozenset(load_parameters(_parameters(config)).fitting.source_ids)


def rewriter_entry(config: Config) -> dict[str, JsonValue]:
    """Return what identifies the rewriter."""
    return {
        "backend": config.rewriter.backend,
        "model": LEXICAL_REWRITER,
        "version": __version__,
    }


def judge_entries(config: Config) -> list[JsonValue]:
    """Return what identifies each judge of the panel.

    Raises:
        ConfigError: There is no embedded judge of that name.
    """
    for judge in config.judges.panel:
        if judge.name not in JUDGES:
            names = ", ".join(JUDGES)
            raise ConfigError(f"judges.panel: no embedded judge {judge.name!r}; there are: {names}")
    return [
        {"name": judge.name, "backend": judge.backend, "version": __version__}
        for judge in config.judges.panel
    ]


def _parameters(config: Config) -> Path:
    given = config.verifier.parameters
    return parameters_path() if given is None else Path(given)
