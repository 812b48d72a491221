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
    "Figure": "figures",
    "Frames": "frames",
    "Provenance": "settings",
    "RunRecords": "accounting",
    "Settings": "settings",
    "Summary": "report",
    "Table": "table",
    "bootstrap_mean_interval": "intervals",
    "bootstrap_means": "intervals",
    "build_frames": "frames",
    "check_accounting": "accounting",
    "exact_mcnemar": "paired",
    "figure_files": "figures",
    "holm": "paired",
    "paired_contrasts": "paired",
    "render_report": "report",
    "round_half_up": "table",
    "table_csv": "write",
    "table_files": "write",
    "table_latex": "write",
    "table_markdown": "write",
    "warnings_for": "notes",
    "wilson_interval": "intervals",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    """Load a public name from its module when it is first asked for."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(_HOME)
