"""Detector scores of a run, as `ragmend detect score` prints them."""

from ragmend.analysis.printing.table import round_half_up
from ragmend.cli.context import Context
from ragmend.cli.engine import inspect_stage
from ragmend.cli.stages.select import SELECT
from ragmend.errors import RunStateError
from ragmend.io import read_records
from ragmend.records import DetectorScore
from ragmend.scoring import Score, macro_f1

HEADER = f"{'protocol':10} {'level':9} {'group':9} {'n':>5}  {'P':>6} {'R':>6} {'F1':>6}"


def format_scores(context: Context) -> str:
    """Return the scores as lines: by protocol, level and task, pooled and macro F1.

    Raises:
        RunStateError: The run has no scores, or they are not what select wrote.
    """
    state = inspect_stage(SELECT, context)
    if state.kind != "complete":
        why = "; ".join(state.reasons) or "`ragmend run …` makes it"
        raise RunStateError(f"stage select is {state.kind}: {why}")
    rows = list(read_records(context.paths.detector_scores, DetectorScore))
    lines = [HEADER]
    for key in dict.fromkeys((row.protocol, row.level) for row in rows):
        members = [row for row in rows if (row.protocol, row.level) == key]
        lines += [_line(row) for row in members]
        macro = macro_f1(_score(row) for row in members if row.group != "pooled")
        lines.append(f"{key[0]:10} {key[1]:9} {'macro':9} {'':5}  {'':6} {'':6} {_percent(macro)}")
    return "\n".join(lines)


def _line(row: DetectorScore) -> str:
    score = _score(row)
    rates = " ".join(_percent(rate) for rate in (score.precision, score.recall, score.f1))
    return f"{row.protocol:10} {row.level:9} {row.group:9} {row.n_responses:5}  {rates}"


def _score(row: DetectorScore) -> Score:
    return Score(row.tp, row.fp, row.fn, row.tn)


def _percent(rate: float | None) -> str:
    return f"{'—' if rate is None else round_half_up(100 * rate, 1):>6}"
