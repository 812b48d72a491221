"""What was compared: records, judges, conditions, and what became of incomplete ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ragmend.analysis.printing.printed import Section
from ragmend.analysis.printing.table import Table
from ragmend.analysis.prose.certainty import located_alone
from ragmend.analysis.prose.rows import rows_by
from ragmend.analysis.prose.words import MOST_NAMED, counted, listed, percent
from ragmend.analysis.study import Study


def what_was_compared(study: Study, tables: Mapping[str, Table]) -> Section | None:
    """Describe the labels and the answers that everything else is about."""
    sentences = [*_population(tables), *_labels(study), *located_alone(tables)]
    return Section(heading="What was compared", sentences=tuple(sentences)) if sentences else None


def _population(tables: Mapping[str, Table]) -> Iterator[str]:
    rows = rows_by(tables, "selection", "quantity")
    if not rows:
        return
    flagged, n = rows["flagged"]["value"], rows["n"]["value"]
    yield (
        f"The detector flagged {flagged:,} of {counted(n, 'answer')} "
        f"({percent(rows['flagged']['pct'])}); only flagged answers are repaired and judged, "
        "so that nothing here speaks of hallucinations that it missed."
    )
    if rows["precision"]["pct"] is not None:
        yield (
            f"Against human annotation its precision is {percent(rows['precision']['pct'])} "
            f"and its recall {percent(rows['recall']['pct'])}: "
            f"{rows['FP']['value']:,} of the flagged answers have nothing to repair."
        )


def _labels(study: Study) -> Iterator[str]:
    if not study.frames.has("labels"):
        return
    cube, design = study.cube, study.design
    n = len(cube.record_ids)
    yield (
        f"{counted(len(cube.judges), 'judge')}{_names(cube.judges)} labelled the same "
        f"{counted(n, 'record')} in {counted(len(cube.conditions), 'condition')}"
        f"{_names(cube.conditions)}."
    )
    if cube.n_dropped:
        yield (
            f"{counted(cube.n_dropped, 'record')} lacked a label and was left out of everything, "
            "as asked."
            if cube.n_dropped == 1
            else f"{cube.n_dropped:,} records lacked a label and were left out of everything, as "
            "asked."
        )
    if cube.sources_R is None:
        yield (
            "The input does not say which records share a source, so that all are taken as "
            "independent; if they are not, the intervals are too narrow."
        )
    else:
        n_sources = len(set(cube.sources_R))
        yield f"The records go back to {counted(n_sources, 'source')}."
    if design.contrasts:
        n_others = sum(contrast.family == "exploratory" for contrast in design.contrasts)
        others = (
            f"; {counted(n_others, 'other contrast')} {'is' if n_others == 1 else 'are'} "
            "exploratory, without correction"
            if n_others
            else ""
        )
        yield (
            "Conditions are compared on the same records, within each judge. "
            f"{design.reason[0].upper()}{design.reason[1:]}{others}."
        )
    elif len(cube.conditions) > 1:
        yield (
            "No condition is named as the reference (--reference), so that conditions are not "
            "compared and gold is not used."
        )


def _names(names: Sequence[str]) -> str:
    return f" ({listed(names)})" if len(names) <= MOST_NAMED else ""
