"""The explanation of an analysis: sections in the order in which a reader asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ragmend.analysis.printing.printed import Section
from ragmend.analysis.printing.table import Table
from ragmend.analysis.prose.agreement import where_judges_agree
from ragmend.analysis.prose.compared import what_was_compared
from ragmend.analysis.prose.contrasts import what_changed, what_did_not
from ragmend.analysis.prose.limits import what_cannot_be_said, what_papers_say
from ragmend.analysis.prose.repair import what_finds_errors, what_repair_costs
from ragmend.analysis.study import Study

_SECTIONS: tuple[Callable[[Study, Mapping[str, Table]], Section | None], ...] = (
    what_was_compared,
    what_changed,
    what_did_not,
    what_repair_costs,
    where_judges_agree,
    what_finds_errors,
    what_papers_say,
    what_cannot_be_said,
)


def explain(study: Study, tables: Mapping[str, Table]) -> tuple[Section, ...]:
    """Say what was compared, what came out, and what the numbers cannot say.

    Args:
        study: The inputs.
        tables: The finished tables; a section without its tables is left out.
    """
    found = (section(study, tables) for section in _SECTIONS)
    return tuple(section for section in found if section is not None)
