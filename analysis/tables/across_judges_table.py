"""What holds for all judges: every contrast over judges, and whether any condition differs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ragmend.analysis.printing.notes import INDEPENDENT, notes_for
from ragmend.analysis.printing.table import Column, Table, table_frame
from ragmend.analysis.statistics.across_judges import across_judges, cochran_q
from ragmend.analysis.study import Study

_ACROSS_COLUMNS = (
    Column("contrast", "contrast", "text"),
    Column("family", "family", "text"),
    Column("judges", "judges", "count"),
    Column("direction", "hallucinated", "text"),
    Column("p_max", "largest p", "p_value"),
    Column("p_max_holm", "largest p, Holm", "p_value"),
    Column("significant", "judges with Holm p < .05", "count"),
    Column("not_significant", "not", "text"),
)

_COCHRAN_COLUMNS = (
    Column("judge", "judge", "text"),
    Column("n", "n", "count"),
    Column("conditions", "conditions", "count"),
    Column("q", "Q", "decimal", 2),
    Column("df", "df", "count"),
    Column("n_varying", "records that vary", "count"),
    Column("p", "p", "p_value"),
    Column("p_by", "p by", "text"),
)


_EXACT = "exact McNemar"
_SPARSE = "chi-square, too few vary"


class CochranRow(NamedTuple):
    """One judge's test that all conditions have the same rate."""

    judge: str
    n: int
    conditions: int
    q: float | None
    df: int
    p: float | None
    log10_p: float | None
    n_varying: int
    """Records whose labels differ between conditions."""
    p_by: str | None
    """Which distribution p is from, and whether too few records vary for it."""


def without_other_judges(study: Study) -> str | None:
    """Say that there is one judge only; None where there are several."""
    return None if len(study.cube.judges) > 1 else "needs labels of at least two judges"


def across_judges_table(study: Study) -> Table:
    """Tabulate on which contrasts all judges agree.

    Args:
        study: Its labels, of at least two judges.

    Source: Berger 1982, Technometrics 24(4), 295-300.
    """
    notes = notes_for(
        study.provenance,
        "all judges agree where the largest of their p-values is small and all differences have "
        "one sign (an intersection–union test); mixed: they do not, and no p is given; none: no "
        "judge's rate changed",
        "largest p, Holm: over the primary contrasts, mixed ones counted as p = 1; the last two "
        "columns: each judge's own Holm-adjusted p, of primary contrasts only",
        "judges that share errors also agree: agreement is no proof that they are right",
        INDEPENDENT,
        judged=True,
    )
    title = "Contrasts on which all judges agree"
    frame = table_frame(across_judges(study.contrasts))
    return Table("across_judges", title, frame, _ACROSS_COLUMNS, notes)


def cochran_q_table(study: Study) -> Table:
    """Tabulate for each judge whether the rates of all conditions are equal.

    Args:
        study: Its labels, in at least two conditions.

    Source: Cochran 1950, Biometrika 37(3/4), 256-266; Tate and Brown 1970, JASA 65(329),
        155-160.
    """
    rows = [_cochran_row(study, judge) for judge in study.cube.judges]
    notes = notes_for(study.provenance, *_cochran_notes(rows), INDEPENDENT, judged=True)
    title = "Whether any condition differs, by judge"
    return Table("cochran_q", title, table_frame(rows), _COCHRAN_COLUMNS, notes)


def _cochran_notes(rows: Sequence[CochranRow]) -> Iterator[str]:
    if rows[0].conditions == 2:
        yield (
            "Cochran's Q: whether both conditions have the same rate; with two it is McNemar's "
            "chi-square, and p is that of his exact test"
        )
    else:
        yield (
            "Cochran's Q: whether all conditions have the same rate; p: chi-square with df degrees "
            "of freedom, an approximation; a small p says that some differ, not which"
        )
    if any(row.p_by == _SPARSE for row in rows):
        yield (
            f"{_SPARSE}: fewer than 4, or times the conditions fewer than 24 (Tate and Brown "
            "1970), so that chi-square does not hold; go by the exact p of each contrast"
        )
    if any(row.q is None for row in rows):
        yield "—: no record's label differs between conditions, so there is nothing to test"


def _cochran_row(study: Study, judge: str) -> CochranRow:
    labels_RC = study.cube.labels_RJC[:, study.cube.judges.index(judge), :]
    n, conditions = labels_RC.shape
    test = cochran_q(labels_RC)
    p_by = None
    if test.p is not None:
        p_by = _EXACT if test.p_is_exact else _SPARSE if test.is_sparse else "chi-square"
    return CochranRow(
        judge, n, conditions, test.q, test.df, test.p, test.log10_p, test.n_varying, p_by
    )
