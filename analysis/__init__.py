"""Statistics, tables, figures and the report; works on records alone and calls no model.

People who bring their own tidy label table need only this package:

    from ragmend.analysis import paired_contrasts
    paired_contrasts(labels)  # columns: record_id, judge, condition, label

The names below load their modules, and with them pandas and scipy, when first used. The whole
analysis is `ragmend.analysis.analyze.analyze`, for a function cannot share the package with a
module of its own name.
"""

from importlib import import_module
from typing import Any

_HOME = {
    "Analysis": "analyze",
    "CheckedNumber": "acceptance.check",
    "Contrast": "settings",
    "FaultCount": "settings",
    "Figure": "figures.style",
    "Frames": "inputs.frames",
    "Provenance": "settings",
    "RunRecords": "inputs.accounting",
    "Settings": "settings",
    "Summary": "report",
    "Table": "printing.table",
    "across_judges": "statistics.across_judges",
    "agreement": "statistics.agreement",
    "agreement_table": "statistics.judge_agreement",
    "all_borne_out": "acceptance.check",
    "area_under_curve": "statistics.roc",
    "best_f1_threshold": "statistics.operating_points",
    "bootstrap_mean_interval": "statistics.intervals",
    "bootstrap_means": "statistics.intervals",
    "budget_threshold": "statistics.operating_points",
    "build_frames": "inputs.from_records",
    "calibrate": "statistics.calibration",
    "calibration_error": "statistics.calibration",
    "cell_of": "tables.provenance_table",
    "check_accounting": "inputs.accounting",
    "check_lines": "acceptance.check",
    "check_published": "acceptance.check",
    "check_summary": "acceptance.check",
    "cluster_effects": "statistics.clusters",
    "cluster_mean_intervals": "statistics.clusters",
    "cochran_q": "statistics.across_judges",
    "cohen_kappa": "statistics.agreement",
    "compare_paired": "statistics.paired_difference",
    "correlation_limit": "statistics.label_budget",
    "delong_interval": "statistics.delong",
    "detectable_difference": "statistics.equivalence",
    "exact_bootstrap_distribution": "statistics.exact_bootstrap",
    "exact_bootstrap_interval": "statistics.exact_bootstrap",
    "exact_mcnemar": "statistics.mcnemar",
    "f1_standard_error": "statistics.seeds",
    "figure_files": "figures.style",
    "gold_correlation": "statistics.label_budget",
    "gwet_ac1": "statistics.agreement",
    "half_width_expected": "statistics.label_budget",
    "holm": "statistics.multiplicity",
    "intersection_union": "statistics.across_judges",
    "judge_corrected_rate": "statistics.judge_error",
    "judge_error": "statistics.judge_error",
    "krippendorff_alpha": "statistics.alpha",
    "labels_needed": "statistics.label_budget",
    "near_threshold": "statistics.label_forms",
    "newcombe_paired_interval": "statistics.score_intervals",
    "paired_contrasts": "statistics.paired",
    "paired_equivalence": "statistics.equivalence",
    "permutation_p": "statistics.seeds",
    "prediction_powered_rate": "statistics.prediction_powered",
    "provenance_table": "tables.provenance_table",
    "records_needed": "statistics.equivalence",
    "render_html": "report",
    "render_markdown": "report",
    "rogan_gladen": "statistics.judge_error",
    "round_half_up": "printing.table",
    "runs_needed": "statistics.welch_power",
    "seed_correlation": "statistics.seeds",
    "superiority": "statistics.seeds",
    "support_of_forms": "statistics.label_forms",
    "table_csv": "printing.write",
    "table_files": "printing.write",
    "table_latex": "printing.write",
    "table_markdown": "printing.write",
    "tango_interval": "statistics.score_intervals",
    "true_rate": "statistics.judge_error",
    "text_retention": "statistics.retention",
    "warnings_for": "printing.notes",
    "welch_power": "statistics.welch_power",
    "welch_test": "statistics.seeds",
    "wilson_interval": "statistics.intervals",
    "youden_interval": "statistics.judge_error",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    """Load a public name from its module when it is first asked for."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(_HOME)
