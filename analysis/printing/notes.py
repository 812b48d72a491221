"""The notes under every table: what made the numbers, and what they must not be read as."""

from __future__ import annotations

from fractions import Fraction

from ragmend.analysis.printing.table import JUDGE_COLUMNS, Table, round_half_up
from ragmend.analysis.settings import FaultCount, Provenance

LEXICAL_VERIFIER = "lexical (no language model)"
NO_PROBABILITY = "its P(support) is a score, not a probability"
FAMILY_MARK = "†"
HEURISTIC_JUDGES = (
    "judges: heuristic (no language model); they use the same evidence as the lexical "
    "verifier, so a lower rate here does not show a better answer"
)
_HEURISTIC_JUDGES_ALONE = (
    "judges: heuristic (no language model); a lower rate here does not show a better answer"
)
_SAME_EVIDENCE = "the evidence is that of the lexical verifier too, so that "

INDEPENDENT = "answers are taken as independent, although several may share a source"
"""The note of every test and interval over records that may be related."""
_MANY_SOURCES = 40


def notes_for(provenance: Provenance, *extra: str | None, judged: bool = False) -> tuple[str, ...]:
    """Return a table's notes: its own, then verifier, judges and faulty answers.

    Args:
        provenance: Where the numbers come from.
        extra: Notes of the table itself; None is left out.
        judged: Whether the table holds judges' labels.
    """
    judges = heuristic_note(provenance) if judged else None
    notes = (
        *extra, *provenance.remarks, _verifier_note(provenance), judges, fault_note(provenance),
    )  # fmt: skip
    return tuple(note for note in notes if note is not None)


def few_sources_note(n_sources: int) -> str | None:
    """Say how far an interval by source can be trusted; None of 40 sources or more, or of one.

    Of G values from a normal distribution a percentile bootstrap's interval is about as wide as
    that of the normal distribution with variance over G: at 95 % it covers the mean with
    probability P(|t| < 1.96 √((G − 1)/G)), t Student's with G − 1 degrees of freedom: .85 with
    G = 5, .90 with 10, .93 with 20.

    Args:
        n_sources: The sources behind an interval or p by source; of several, the fewest.

    Source: Davison and Hinkley 1997, Bootstrap Methods and Their Application, section 5.3 (the
        percentile method); Cameron, Gelbach and Miller 2008, Review of Economics and Statistics
        90(3), 414-427 (few clusters).
    """
    if not 1 < n_sources < _MANY_SOURCES:
        return None
    return (
        f"with as few as {n_sources} sources what is by source is too sure: of bootstrap intervals "
        "at 95 % about 85 % cover with 5 sources, 90 % with 10, 93 % with 20, and fewer where "
        "one label is rare or sources differ in size"
    )


def mark_judges(table: Table, provenance: Provenance) -> Table:
    """Return the table with the judges of the verifier's model family marked, and a note."""
    marked = provenance.verifier_family_judges
    if not marked or not set(JUDGE_COLUMNS) & {column.name for column in table.columns}:
        return table
    marks = {judge: f"{judge} {FAMILY_MARK}" for judge in marked}
    note = (
        f"{FAMILY_MARK} of the verifier's own model family: it may share the verifier's errors, "
        "so that its labels favour what the verifier let pass"
    )
    return table._replace(marks=marks, notes=(*table.notes, note))


def warnings_for(provenance: Provenance) -> tuple[str, ...]:
    """Return what a reader of the whole report must know before the first number."""
    warnings = [*provenance.remarks]
    if provenance.embedded_verifier:
        warnings.append(str(_verifier_note(provenance)))
    if (heuristic := heuristic_note(provenance)) is not None:
        warnings.append(heuristic)
    if provenance.faults:
        warnings.append(fault_note(provenance))
    return tuple(warnings)


def heuristic_note(provenance: Provenance) -> str | None:
    """Say which judges are heuristics, and what their rates cannot show; None where none is."""
    names = provenance.heuristic_judges
    if provenance.embedded_judges:
        return _HEURISTIC_JUDGES_ALONE if provenance.has_model_verifier else HEURISTIC_JUDGES
    if not names:
        return None
    one = len(names) == 1
    why = "" if provenance.has_model_verifier else _SAME_EVIDENCE
    return (
        f"{'judge' if one else 'judges'} {', '.join(names)}: heuristic (no language model), the "
        f"others are not; {why}a lower rate by {'it' if one else 'them'} does not show a better "
        "answer"
    )


def fault_note(provenance: Provenance) -> str:
    """Say how many answers could not be had or read, by stage and status."""
    if provenance.faults is None:
        return "faults: not recorded in this input"
    return f"faults: {'; '.join(map(_describe_fault, provenance.faults)) or 'none'}"


def _describe_fault(fault: FaultCount) -> str:
    share = round_half_up(Fraction(100 * fault.count, fault.answers), 1)
    return f"{fault.stage} {fault.status} {fault.count} of {fault.answers} ({share} %)"


def _verifier_note(provenance: Provenance) -> str | None:
    if provenance.embedded_verifier:
        return f"verifier: {provenance.verifier_name or LEXICAL_VERIFIER}; {NO_PROBABILITY}"
    name = provenance.verifier_name
    return None if name is None else f"verifier: {name}"
