"""What the paper on text-to-SQL grounding says of its scores beside others'."""

from __future__ import annotations

from itertools import combinations

from ragmend.analysis.published.claim import Claim, Finding, untestable
from ragmend.analysis.published.scores import MACRO, Printed, ScoreLine, printed_scores
from ragmend.analysis.study import Study

SQL_PAPER = "text-to-SQL grounding (TeQHallu)"
OWN = "TeQHallu"
_MAIN_TABLE = "1"


def _outpaces_the_finetuned(study: Study) -> Finding:
    macro = _macro_f1s(study)
    own, rival = _f1_of(macro, OWN), _f1_of(macro, "finetuned", "Llama-2-13B")
    if own is None or rival is None:
        return untestable(f"published macro F1 of {OWN} and of the finetuned Llama-2-13B")
    sign = ">" if own.value > rival.value else "<" if own.value < rival.value else "="
    return Finding(
        own.value > rival.value,
        f"macro F1: {OWN} {own.text} {sign} finetuned Llama-2-13B {rival.text}",
    )


def _only_rag_hat_is_ahead(study: Study) -> Finding:
    macro = _macro_f1s(study)
    own = _f1_of(macro, OWN)
    if own is None or _f1_of(macro, "RAG-HAT") is None:
        return untestable(f"published macro F1 of {OWN} and of RAG-HAT")
    ahead = [(line, f1) for line, f1 in macro if f1.value > own.value]
    names = ", ".join(f"{line.system} {f1.text}" for line, f1 in ahead)
    return Finding(
        [line.method for line, _ in ahead] == ["RAG-HAT"],
        f"macro F1 above {OWN}'s {own.text}: {names or 'none'}",
    )


def _models_have_rows_of_their_own(study: Study) -> Finding:
    """Compare every two models under one method; one equal row alone may be chance."""
    blocks: dict[tuple[str, str], dict[str, dict[str, tuple[Printed | None, ...]]]] = {}
    for line in printed_scores(study):
        of_model = blocks.setdefault((line.table, line.method), {}).setdefault(line.model, {})
        of_model[line.group] = line.scores
    compared = [
        (f"Table {table}, {method}: {a} and {b}", by_model[a], by_model[b])
        for (table, method), by_model in blocks.items()
        for a, b in combinations(by_model, 2)
        if len(by_model[a]) > 1 and by_model[a].keys() == by_model[b].keys()
    ]
    if not compared:
        return untestable("published scores of two models under one method, in several groups")
    same = [f"{names} are equal in all {len(a)} rows" for names, a, b in compared if a == b]
    return Finding(not same, "; ".join([f"{len(compared)} pairs of models compared", *same]))


SCORE_CLAIMS = (
    Claim(
        SQL_PAPER,
        "text on Table 1",
        f"{OWN} outpaces the fine-tuned Llama-2-13B",
        _outpaces_the_finetuned,
    ),
    Claim(
        SQL_PAPER,
        "text on Table 1",
        f"RAG-HAT is the only system ahead of {OWN}",
        _only_rag_hat_is_ahead,
    ),
    Claim(
        SQL_PAPER,
        "Table 6",
        "the rows of each model are measurements of their own",
        _models_have_rows_of_their_own,
    ),
)


def _macro_f1s(study: Study) -> list[tuple[ScoreLine, Printed]]:
    return [
        (line, line.f1)
        for line in printed_scores(study)
        if line.table == _MAIN_TABLE and line.group == MACRO and line.f1 is not None
    ]


def _f1_of(
    macro: list[tuple[ScoreLine, Printed]], method: str, model: str | None = None
) -> Printed | None:
    """Return the F1 of one system, of the method's only model if none is named."""
    found = [f1 for line, f1 in macro if line.method == method and model in (None, line.model)]
    return found[0] if len(found) == 1 else None
