"""Which language models an experiment loads from the hub's cache, and what of them is not there."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ragmend.cli.prefetching.hub_cache import COMMIT, cache_problem
from ragmend.config import Config
from ragmend.sections.models import ModelConfig


class NeededModel(NamedTuple):
    """A model of the hub that some job loads.

    Attributes:
        id: Its repository.
        revision: As configured: a commit, branch or tag; None: "main".
        used_by: Where the configuration names it, as "verifier" or "training.models.llama-2-7b".
    """

    id: str
    revision: str | None
    used_by: tuple[str, ...]

    @property
    def is_pinned(self) -> bool:
        """Whether a later job gets the same."""
        return self.revision is not None and COMMIT.fullmatch(self.revision) is not None

    @property
    def label(self) -> str:
        """How messages name it."""
        return self.id if self.revision is None else f"{self.id} @ {self.revision}"


class MissingModel(NamedTuple):
    """A model that is not, or not completely, in the cache; and what of it is not."""

    model: NeededModel
    problem: str


def needed_models(config: Config) -> tuple[NeededModel, ...]:
    """Return what jobs of an experiment load from the hub's cache, each once.

    A model that has a folder is there already; one whose server is named in `servers` is
    somebody else's to load.
    """
    used_by: dict[tuple[str, str | None], list[str]] = {}
    for place, model in _places(config):
        if model.folder is None:
            used_by.setdefault((model.id, model.revision), []).append(place)
    return tuple(NeededModel(*key, tuple(places)) for key, places in used_by.items())


def missing_models(
    config: Config, environ: Mapping[str, str] | None = None
) -> tuple[MissingModel, ...]:
    """Return the models of an experiment that a machine without internet would not have.

    Args:
        config: The experiment.
        environ: The variables that say where the cache is; the process's own when None.
    """
    return tuple(
        MissingModel(model, problem)
        for model in needed_models(config)
        if (problem := cache_problem(model.id, model.revision, environ)) is not None
    )


def _places(config: Config) -> Iterator[tuple[str, ModelConfig]]:
    if config.training is not None:
        for name, trained in config.training.models.items():
            yield f"training.models.{name}", trained.model
    for name, role in config.roles().items():
        if role.model is not None and not (role.backend == "openai" and name in config.servers):
            yield name, role.model
