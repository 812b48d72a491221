"""Every table of an analysis, in report order: one literal mapping.

A new table is a function of frames in a `*_tables.py` module and one line here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from ragmend.analysis.inputs.named_spans import SPAN_COLUMNS
from ragmend.analysis.printing.table import Table
from ragmend.analysis.study import Study
from ragmend.analysis.tables.across_judges_table import (
    across_judges_table,
    cochran_q_table,
    without_other_judges,
)
from ragmend.analysis.tables.agreement_tables import (
    judge_reliability_table,
    rater_agreement_table,
    without_second_rater,
    without_seen_gold,
)
from ragmend.analysis.tables.arm_tables import arms_table, gold_arms_table, without_gold_arms
from ragmend.analysis.tables.calibration_tables import (
    calibration_table,
    operating_points_table,
    without_development,
)
from ragmend.analysis.tables.claim_tables import (
    acceptance_table,
    claims_by_kind_table,
    gate_reasons_table,
)
from ragmend.analysis.tables.claims_of_the_text_table import (
    claims_of_the_text_table,
    without_testable_claims,
)
from ragmend.analysis.tables.conditions_for_tables import (
    first_reason,
    without_actions,
    without_conditions,
    without_contrasts,
    without_gold,
    without_replacements,
    without_sources,
    without_tasks,
)
from ragmend.analysis.tables.contrast_tables import (
    contrast_clusters_table,
    contrasts_table,
    task_contrasts_table,
)
from ragmend.analysis.tables.detector_tables import (
    detector_runs_table,
    detector_scores_table,
    without_several_runs,
)
from ragmend.analysis.tables.development_table import detector_development_table
from ragmend.analysis.tables.empty_answers_table import empty_answers_table
from ragmend.analysis.tables.equivalence_table import equivalence_table
from ragmend.analysis.tables.example_table import examples_table, without_examples
from ragmend.analysis.tables.form_tables import assembly_edits_table, wellformedness_table
from ragmend.analysis.tables.gold_tables import (
    answers_against_gold_table,
    claims_against_gold_table,
)
from ragmend.analysis.tables.judge_error_tables import judge_error_table, label_budget_table
from ragmend.analysis.tables.judge_spans_table import judge_spans_table, without_spans
from ragmend.analysis.tables.judge_tables import judged_table
from ragmend.analysis.tables.population_tables import selection_table
from ragmend.analysis.tables.seed_comparison import seed_comparison_table, without_two_models
from ragmend.analysis.tables.seed_tables import (
    detector_seeds_table,
    failed_answers_table,
    without_scored_runs,
)
from ragmend.analysis.tables.task_inputs import without_tasks_of_records
from ragmend.analysis.tables.task_tables import tasks_table
from ragmend.analysis.tables.verifier_certainty_table import (
    verifier_certainty_table,
    without_candidate_mass,
)
from ragmend.analysis.tables.verifier_tables import (
    threshold_table,
    verifier_by_task_table,
    without_gold_claims,
)


class TableFunction(Protocol):
    """Makes one table from the frames that it needs."""

    def __call__(self, study: Study, /) -> Table:
        """Return the table."""
        ...


class Recipe(NamedTuple):
    """How a table is made, and when it is left out."""

    make: TableFunction
    needs: tuple[str, ...]
    """Inputs without which it is left out: a frame (`claims`) or a column (`claims.kind`)."""
    unless: Callable[[Study], str | None] | None = None
    """Why these inputs do not bear the table, None where they do; asked when none is missing."""
    also_reads: tuple[str, ...] = ()
    """Frames that it uses where they are given, beside those that it needs."""


_GOLD_CLAIMS = ("claims.gold_unsupported", "claims.record_gold")
_SPLIT_CLAIMS = ("claims.split", *_GOLD_CLAIMS)

TABLES: dict[str, Recipe] = {
    "selection": Recipe(selection_table, needs=("selection",), also_reads=("records", "runs")),
    "table1_detectors": Recipe(detector_seeds_table, needs=("runs",), unless=without_scored_runs),
    "seed_comparison": Recipe(
        seed_comparison_table,
        needs=("runs",),
        unless=first_reason(without_scored_runs, without_two_models),
        also_reads=("selection",),
    ),
    "detector_failures": Recipe(
        failed_answers_table, needs=("runs.empty_pct", "runs.unparsed_pct")
    ),
    "detector_development": Recipe(
        detector_development_table, needs=("development",), also_reads=("runs",)
    ),
    "detector_runs": Recipe(detector_runs_table, needs=("detectors",), unless=without_several_runs),
    "detector_scores": Recipe(detector_scores_table, needs=("detectors",)),
    "claims_by_kind": Recipe(claims_by_kind_table, needs=("claims.kind",)),
    "acceptance": Recipe(
        acceptance_table,
        needs=("claims.rewrite_proposed",),
        unless=without_replacements,
        also_reads=("candidates", "rewrites"),
    ),
    "gate_reasons": Recipe(gate_reasons_table, needs=("candidates",)),
    "table2_verifier": Recipe(threshold_table, needs=_GOLD_CLAIMS, unless=without_gold_claims),
    "verifier_by_task": Recipe(verifier_by_task_table, needs=_GOLD_CLAIMS, also_reads=("records",)),
    "verifier_certainty": Recipe(
        verifier_certainty_table, needs=("verdicts",), unless=without_candidate_mass
    ),
    "verifier_calibration": Recipe(
        calibration_table, needs=_SPLIT_CLAIMS, unless=without_development
    ),
    "verifier_operating_points": Recipe(
        operating_points_table, needs=_SPLIT_CLAIMS, unless=without_development
    ),
    "table3_arms": Recipe(arms_table, needs=("arms",), also_reads=("records",)),
    "table7_clean_and_hallucinatory": Recipe(
        gold_arms_table, needs=("arms",), unless=without_gold_arms, also_reads=("records",)
    ),
    "table4_examples": Recipe(
        examples_table,
        needs=("claims.task", "claims.text", "actions.text"),
        unless=without_examples,
    ),
    "wellformedness": Recipe(wellformedness_table, needs=("answers",), also_reads=("actions",)),
    "assembly_edits": Recipe(assembly_edits_table, needs=("actions",)),
    "repair_against_gold": Recipe(
        claims_against_gold_table,
        needs=_GOLD_CLAIMS,
        unless=without_actions,
        also_reads=("records", "actions"),
    ),
    "answers_against_gold": Recipe(
        answers_against_gold_table,
        needs=_GOLD_CLAIMS,
        unless=without_actions,
        also_reads=("records", "actions"),
    ),
    "table5_judged": Recipe(judged_table, needs=("labels",), also_reads=("records",)),
    "judge_spans": Recipe(
        judge_spans_table,
        needs=tuple(f"labels.{column}" for column in SPAN_COLUMNS),
        unless=without_spans,
        also_reads=("records",),
    ),
    "contrasts": Recipe(
        contrasts_table, needs=("labels",), unless=without_contrasts, also_reads=("records",)
    ),
    "contrast_clusters": Recipe(
        contrast_clusters_table,
        needs=("labels",),
        unless=first_reason(without_contrasts, without_sources),
        also_reads=("records",),
    ),
    "task_contrasts": Recipe(
        task_contrasts_table,
        needs=("labels",),
        unless=first_reason(without_contrasts, without_tasks),
        also_reads=("records",),
    ),
    "across_judges": Recipe(
        across_judges_table,
        needs=("labels",),
        unless=first_reason(without_contrasts, without_other_judges),
        also_reads=("records",),
    ),
    "cochran_q": Recipe(
        cochran_q_table, needs=("labels",), unless=without_conditions, also_reads=("records",)
    ),
    "equivalence": Recipe(
        equivalence_table, needs=("labels",), unless=without_contrasts, also_reads=("records",)
    ),
    "table6_tasks": Recipe(
        tasks_table,
        needs=(),
        unless=without_tasks_of_records,
        also_reads=("labels", "arms", "claims", "records"),
    ),
    "agreement": Recipe(
        rater_agreement_table,
        needs=("labels",),
        unless=without_second_rater,
        also_reads=("records",),
    ),
    "judge_reliability": Recipe(
        judge_reliability_table,
        needs=("labels",),
        unless=first_reason(without_gold, without_seen_gold),
        also_reads=("records",),
    ),
    "judge_error": Recipe(
        judge_error_table, needs=("labels",), unless=without_gold, also_reads=("records",)
    ),
    "label_budget": Recipe(label_budget_table, needs=("labels",), also_reads=("records",)),
    "empty_answers": Recipe(empty_answers_table, needs=("labels.empty",), also_reads=("records",)),
    "claims_of_the_text": Recipe(
        claims_of_the_text_table,
        needs=(),
        unless=without_testable_claims,
        also_reads=("labels", "arms", "records", "runs", "published"),
    ),
}


def reason_to_leave_out(study: Study, recipe: Recipe) -> str | None:
    """Say why a table cannot be made from these inputs; None: it can."""
    missing = [need for need in recipe.needs if not study.frames.has(need)]
    if missing:
        return f"needs {' and '.join(missing)}"
    return None if recipe.unless is None else recipe.unless(study)
