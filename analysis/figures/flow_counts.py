"""The counts that the flow figure shows, from whichever finished tables have them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ragmend.analysis.printing.table import Table
from ragmend.analysis.study import Study
from ragmend.analysis.tables.arm_tables import ALL
from ragmend.analysis.tables.task_inputs import verified_claims


class Population(NamedTuple):
    """From the responses of the split to the records that are repaired; None: unknown."""

    responses: int | None
    flagged: int | None
    records: int | None


class Claims(NamedTuple):
    """The records' claims, and those of them that are eligible for repair."""

    claims: int
    eligible: int


class ArmFlow(NamedTuple):
    """What became of the claims in one arm; they add up to all claims."""

    arm: str
    unchanged: int
    substituted: int
    rewritten: int
    dropped: int


class Judging(NamedTuple):
    """Who judged how much."""

    judges: int
    conditions: int
    labels: int


def population_counts(tables: Mapping[str, Table]) -> Population:
    """Return the counts of responses and records."""
    responses = flagged = records = None
    if "selection" in tables:
        value = tables["selection"].frame.set_index("quantity")["value"]
        responses, flagged = value["n"], value["flagged"]
    if "table3_arms" in tables:
        records = tables["table3_arms"].frame["answers"].iloc[0]
    elif "table5_judged" in tables:
        records = tables["table5_judged"].frame["n"].iloc[0]
    return Population(responses, flagged, records)


def claim_counts(study: Study, tables: Mapping[str, Table]) -> Claims | None:
    """Return the counts of claims; without a table that has them, of verified claims."""
    if "table3_arms" in tables:
        row = tables["table3_arms"].frame.iloc[0]
        return Claims(row["claims"], row["eligible"])
    if "claims_by_kind" in tables:
        kinds = tables["claims_by_kind"].frame.set_index("kind")
        return Claims(kinds["claims"][ALL], kinds["eligible"][ALL])
    if not study.frames.has("claims"):
        return None
    is_eligible = verified_claims(study)["is_eligible"]
    return Claims(len(is_eligible), int(is_eligible.sum()))


def arm_counts(tables: Mapping[str, Table]) -> list[ArmFlow]:
    """Return what became of the claims in each arm; empty: unknown."""
    if "table3_arms" not in tables:
        return []
    return [
        ArmFlow(
            row["arm"],
            row["kept"] - row["substituted"] - row["rewritten"],
            row["substituted"],
            row["rewritten"],
            row["dropped"],
        )
        for row in tables["table3_arms"].frame.to_dict("records")
    ]


def judging_counts(tables: Mapping[str, Table]) -> Judging | None:
    """Return how many labels there are, by how many judges, in how many conditions."""
    if "table5_judged" not in tables:
        return None
    frame = tables["table5_judged"].frame
    return Judging(frame["judge"].nunique(), frame["condition"].nunique(), int(frame["n"].sum()))
