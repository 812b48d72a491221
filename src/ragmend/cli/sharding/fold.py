"""What parts of a stage came to, taken together: nobody is asked again."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from pydantic import JsonValue

from ragmend.cli.roles.standby import Facts, check_same
from ragmend.cli.sharding.markers import ShardDone
from ragmend.errors import RunStateError
from ragmend.records import Fault

CACHE_SHARE = "prefix_cache_hits"  # a share of the prompts' tokens; all else is a sum
WEIGHT = "n_prompt_tokens"


class Fold(NamedTuple):
    """The markers of parts, by number; what they say stands, whatever a journal holds since."""

    done: Mapping[int, ShardDone]

    def faults(self) -> dict[str, Fault]:
        """Return the faults of all units that have one, by the units' keys."""
        return {unit.key: unit.fault for done in self.done.values() for unit in done.faults}

    def facts(self, role: str) -> Facts:
        """Return what the model of a role said of itself.

        Raises:
            RunStateError: It said different things in two shards.
        """
        known: ShardDone | None = None
        for done in self._of(role):
            facts = _facts(done)
            if known is None and facts:
                known = done
            elif known is not None and facts:
                _check_same(known, done)
        return {} if known is None else _facts(known)

    def usage(self, role: str) -> dict[str, JsonValue]:
        """Return how the model of a role was used, in all shards together."""
        return add_usage(_entry(done.service, role) for done in self._of(role))

    def _of(self, role: str) -> list[ShardDone]:
        return [done for _, done in sorted(self.done.items()) if done.role == role]


def add_usage(usages: Iterable[Mapping[str, JsonValue]]) -> dict[str, JsonValue]:
    """Add up how a model was used; empty where it never was."""
    used = [usage for usage in usages if usage]
    names = {name: None for usage in used for name in usage}
    return {name: _cache_share(used) if name == CACHE_SHARE else _sum(used, name) for name in names}


def _sum(used: Iterable[Mapping[str, JsonValue]], name: str) -> JsonValue:
    counts = [n for usage in used if isinstance(n := usage.get(name), int | float)]
    total = sum(counts)
    return round(total, 1) if isinstance(total, float) else total


def _cache_share(used: Iterable[Mapping[str, JsonValue]]) -> JsonValue:
    """Return the mean share, weighted by tokens, of those who know it."""
    hits = tokens = 0.0
    for usage in used:
        share, weight = usage.get(CACHE_SHARE), usage.get(WEIGHT)
        if isinstance(share, int | float) and isinstance(weight, int | float):
            hits, tokens = hits + share * weight, tokens + weight
    return hits / tokens if tokens else None


def _facts(done: ShardDone) -> Facts:
    return _entry(done.servers, done.role)


def _entry(entries: Mapping[str, JsonValue], role: str) -> dict[str, JsonValue]:
    found = entries.get(role)
    return dict(found) if isinstance(found, dict) else {}


def _check_same(one: ShardDone, other: ShardDone) -> None:
    try:
        check_same(_facts(one), _facts(other))
    except RunStateError as error:
        raise RunStateError(
            f"{one.role}: shards {one.shard} and {other.shard} of stage {one.stage} were answered "
            f"by different models: {error}"
        ) from error
