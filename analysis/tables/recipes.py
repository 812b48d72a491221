"""Every table of an analysis, in report order: one literal mapping.

A new table is a function of frames in a `*_tables.py` module and one line here.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from ragmend.analysis.inputs.frames import Frames
from ragmend.analysis.printing.table import Table
from ragmend.analysis.study import Study
from ragmend.analysis.tables.arm_tables import arms_table
from ragmend.analysis.tables.claim_tables import (
    acceptance_table,
    claims_by_kind_table,
    gate_reasons_table,
)
from ragmend.analysis.tables.detector_tables import detector_scores_table
from ragmend.analysis.tables.form_tables import assembly_edits_table, wellformedness_table
from ragmend.analysis.tables.gold_tables import (
    answers_against_gold_table,
    claims_against_gold_table,
)
from ragmend.analysis.tables.judge_tables import contrasts_table, judged_table
from ragmend.analysis.tables.population_tables import selection_table


class TableFunction(Protocol):
    """Makes one table from the frames that it needs."""

    def __call__(self, study: Study, /) -> Table:
        """Return the table."""
        ...


class Recipe(NamedTuple):
    """How a table is made, and the inputs without which it is left out.

    An input is a frame (`claims`) or a column of one (`claims.kind`).
    """

    make: TableFunction
    needs: tuple[str, ...]


_GOLD_CLAIMS = ("claims.gold_unsupported", "claims.record_gold")

TABLES: dict[str, Recipe] = {
    "selection": Recipe(selection_table, needs=("selection",)),
    "detector_scores": Recipe(detector_scores_table, needs=("detectors",)),
    "claims_by_kind": Recipe(claims_by_kind_table, needs=("claims.kind",)),
    "acceptance": Recipe(acceptance_table, needs=("claims.rewrite_proposed",)),
    "gate_reasons": Recipe(gate_reasons_table, needs=("candidates",)),
    "table3_arms": Recipe(arms_table, needs=("arms",)),
    "wellformedness": Recipe(wellformedness_table, needs=("answers",)),
    "assembly_edits": Recipe(assembly_edits_table, needs=("actions",)),
    "repair_against_gold": Recipe(claims_against_gold_table, needs=_GOLD_CLAIMS),
    "answers_against_gold": Recipe(answers_against_gold_table, needs=_GOLD_CLAIMS),
    "table5_judged": Recipe(judged_table, needs=("labels",)),
    "contrasts": Recipe(contrasts_table, needs=("labels",)),
}


def missing_inputs(frames: Frames, recipe: Recipe) -> list[str]:
    """Return the recipe's inputs that are absent or have no rows."""
    return [need for need in recipe.needs if not _is_given(frames, need)]


def _is_given(frames: Frames, need: str) -> bool:
    name, _, column = need.partition(".")
    frame = frames._asdict()[name]
    return frame is not None and not frame.empty and (not column or column in frame)
