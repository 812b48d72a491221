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
    "Contrast": "settings",
    "FaultCount": "settings",
    "Figure": "figures.style",
    "Frames": "inputs.frames",
    "Provenance": "settings",
    "RunRecords": "inputs.accounting",
    "Settings": "settings",
    "Summary": "report",
    "Table": "printing.table",
    "bootstrap_mean_interval": "statistics.intervals",
    "bootstrap_means": "statistics.intervals",
    "build_frames": "inputs.from_records",
    "check_accounting": "inputs.accounting",
    "exact_mcnemar": "statistics.paired",
    "figure_files": "figures.style",
    "holm": "statistics.paired",
    "paired_contrasts": "statistics.paired",
    "render_report": "report",
    "round_half_up": "printing.table",
    "table_csv": "printing.write",
    "table_files": "printing.write",
    "table_latex": "printing.write",
    "table_markdown": "printing.write",
    "warnings_for": "printing.notes",
    "wilson_interval": "statistics.intervals",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    """Load a public name from its module when it is first asked for."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(_HOME)
