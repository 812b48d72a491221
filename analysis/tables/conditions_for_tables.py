"""What labels must hold for a table to be made: each function says what is missing, or None."""

from __future__ import annotations

from collections.abc import Callable

from ragmend.analysis.inputs.frames import needed
from ragmend.analysis.study import Study
from ragmend.analysis.tables.claim_tables import ROUTES

Check = Callable[[Study], str | None]


def first_reason(*checks: Check) -> Check:
    """Return a check that gives the first reason that any of these gives."""

    def check(study: Study) -> str | None:
        return next((reason for each in checks if (reason := each(study)) is not None), None)

    return check


def without_contrasts(study: Study) -> str | None:
    """Say why nothing is compared; None where something is."""
    return None if study.design.contrasts else study.design.reason


def without_conditions(study: Study) -> str | None:
    """Say that there are fewer than two conditions."""
    return None if len(study.design.conditions) > 1 else "needs labels in at least two conditions"


def without_tasks(study: Study) -> str | None:
    """Say that the records' tasks are unknown."""
    return None if study.cube.tasks_R is not None else "needs the task of each record"


def without_sources(study: Study) -> str | None:
    """Say that the records' sources are unknown, or that all share one."""
    sources = study.cube.sources_R
    if sources is None:
        return "needs the source of each record"
    return None if len(set(sources)) > 1 else "needs records of at least two sources"


def without_gold(study: Study) -> str | None:
    """Say that no record has gold, or that no condition is the untouched answers it holds on."""
    if study.design.reference is None:
        return "needs the condition of the untouched answers (--reference)"
    return None if (study.cube.gold_R >= 0).any() else "needs gold labels"


def without_actions(study: Study) -> str | None:
    """Say that the claims do not tell what any arm did to them."""
    claims = needed(study.frames, "claims", [])
    is_known = any(str(column).startswith("action_") for column in claims)
    return None if is_known else "needs claims.action_<arm>"


def without_replacements(study: Study) -> str | None:
    """Say that the claims do not tell what became of any that an arm could replace."""
    claims = needed(study.frames, "claims", [])
    columns = [f"action_{arm}" for arm in dict.fromkeys(route.arm for route in ROUTES)]
    if any(column in claims for column in columns):
        return None
    return f"needs {' or '.join(f'claims.{column}' for column in columns)}"


def without_empty(study: Study) -> str | None:
    """Say that the labels do not tell which answers became empty."""
    return None if study.cube.empty_RJC is not None else "needs to know which answers are empty"
