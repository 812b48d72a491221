"""Where our value of each published number stands: one literal list of families of cells.

The numbers are those of arXiv 2608.29307; an id that is not here is unknown to the check.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import product
from string import Formatter
from typing import NamedTuple

from ragmend.analysis.printing.table import Style


class Printing(NamedTuple):
    """How the paper prints a number: fixed here, never taken from the published string."""

    style: Style
    digits: int = 0
    scale: int = 1
    is_magnitude: bool = False
    """Whether the paper prints a signed number without its sign."""


class Address(NamedTuple):
    """One cell of our tables."""

    table: str
    row: Mapping[str, str]
    """The value of each column that picks the row, as text."""
    column: str
    printing: Printing


class Cells(NamedTuple):
    """A family of numbers; each `{word}` runs over its entry in `WORDS`."""

    ids: str
    table: str
    row: Mapping[str, str]
    column: str
    printing: Printing


COUNT, P_VALUE = Printing("count"), Printing("p_value")
ONE, TWO, THREE = (Printing("decimal", digits) for digits in (1, 2, 3))
PERCENT = Printing("decimal", 1, scale=100)
MAGNITUDE_1, MAGNITUDE_2 = (Printing("decimal", digits, is_magnitude=True) for digits in (1, 2))

# What a word of an id is called in our tables.
WORDS: dict[str, dict[str, str]] = {
    "arm": {arm: arm for arm in ("removal", "extractive", "generative")},
    "condition": {c: c for c in ("original", "removal", "extractive", "generative")},
    "judge": {judge: judge for judge in ("qwen", "llama", "gemma")},
    "task": {task: task for task in ("Data2txt", "Summary", "QA")},
    "group": {"clean": "clean", "hall": "hallucinated"},
    "pair": {
        "ori-rem": "original-removal",
        "ori-gen": "original-generative",
        "rem-ext": "removal-extractive",
        "ext-gen": "extractive-generative",
    },
    "size": {size: size for size in ("7b", "13b")},
    "seed": {seed: seed for seed in ("13", "21", "42", "84", "100")},
    "sample": {"us": "usable", "all": "all"},
    "runs": {"usable": "usable", "all": "all"},
    "threshold": {t: t for t in ("0.1", "0.3", "0.4", "0.5", "0.6", "0.7", "0.9")},
    "outcome": {"flagged": "flagged", "TP": "tp", "FP": "fp", "FN": "fn"},
    "score": {"P": "precision", "R": "recall", "F1": "f1"},
    "claims": {c: c for c in ("claims", "aligned", "unaligned", "eligible", "eligible_unaligned")},
    "counted": {"n": "n", "flagged": "flagged", "unflagged": "unflagged"}
    | {name.lower(): name for name in ("TP", "FP", "FN", "TN")},
    "rate": {"flag_rate": "flagged", "f1": "F1"}
    | {name: name for name in ("precision", "recall", "base_rate")},
    "change": {"sub": "substituted"} | {name: name for name in ("kept", "rewritten", "dropped")},
    "end": {"lo": "low", "hi": "high"},
}

_SELECTION = (
    Cells("sel.{counted}", "selection", {"quantity": "{counted}"}, "value", COUNT),
    Cells("sel.{rate}", "selection", {"quantity": "{rate}"}, "pct", ONE),
    Cells("mix.{task}", "selection", {"quantity": "task_{task}"}, "value", COUNT),
    Cells("mix.{task}.pct", "selection", {"quantity": "task_{task}"}, "pct", ONE),
)

_ARM = {"arm": "{arm}"}
_OF_GROUP = {"arm": "{arm}", "group": "{group}"}
_BY_GOLD = "table7_clean_and_hallucinatory"
_ARMS = (
    Cells("t3.{arm}.{change}", "table3_arms", _ARM, "{change}", COUNT),
    Cells("t3.{arm}.kept_pct", "table3_arms", _ARM, "kept_pct", ONE),
    Cells("t3.{arm}.text", "table3_arms", _ARM, "retention_pct", ONE),
    Cells("t3.{arm}.{end}", "table3_arms", _ARM, "retention_{end}", ONE),
    Cells("t3.gen.proposed", "acceptance", {"candidate": "rewrite"}, "proposed", COUNT),
    Cells("t7.{group}.{arm}.edited", _BY_GOLD, _OF_GROUP, "edited_pct", ONE),
    Cells("t7.{group}.{arm}.removed", _BY_GOLD, _OF_GROUP, "removed_per_edited", TWO),
    Cells("t7.{group}.{arm}.text", _BY_GOLD, _OF_GROUP, "retention_pct", ONE),
    Cells("t7.{group}.{arm}.{end}", _BY_GOLD, _OF_GROUP, "retention_{end}", ONE),
)

# Table 6 is of the primary judge, who is Qwen in the paper.
_QWEN_CELL = {"judge": "qwen", "task": "{task}", "condition": "{condition}"}
_QWEN_REMOVAL = {"judge": "qwen", "task": "{task}", "condition": "removal"}
_ARM_CELL = {"task": "{task}", "condition": "{arm}"}
_ANY_ARM = {"task": "{task}", "condition": "removal"}
_TASKS = (
    Cells("t6.judge.{task}.{condition}", "table6_tasks", _QWEN_CELL, "rate_pct", ONE),
    Cells("t6.text.{arm}.{task}", "table6_tasks", _ARM_CELL, "retention_pct", ONE),
    Cells("t6.elig.{task}", "table6_tasks", _ANY_ARM, "eligible_pct", ONE),
    Cells("sec7.4.red.{task}", "table6_tasks", _QWEN_REMOVAL, "diff_pp", MAGNITUDE_1),
)

_JUDGE = {"judge": "{judge}"}
_CELL = {"judge": "{judge}", "condition": "{condition}"}
_CONTRAST = {"judge": "{judge}", "contrast": "{pair}"}
_JUDGES = (
    Cells("t5.{judge}.{condition}.n", "table5_judged", _CELL, "hallucinated", COUNT),
    Cells("t5.{judge}.{condition}.pct", "table5_judged", _CELL, "rate_pct", ONE),
    Cells("contrast.{judge}.{pair}.diff", "contrasts", _CONTRAST, "diff_pp", MAGNITUDE_2),
    Cells("contrast.{judge}.{pair}.{end}", "contrasts", _CONTRAST, "ci_{end}", TWO),
    Cells("contrast.{judge}.{pair}.holm", "contrasts", _CONTRAST, "p_holm", P_VALUE),
    Cells("rel.{judge}.spec", "judge_reliability", _JUDGE, "specificity", PERCENT),
    Cells("rel.{judge}.clean_rate", "judge_reliability", _JUDGE, "rate_clean", PERCENT),
    Cells("rel.{judge}.kappa_gold", "judge_reliability", _JUDGE, "kappa", THREE),
)

_RUNS = {"model": "{size}"}
_COMPARED = {"model_a": "7b", "model_b": "13b", "runs": "{runs}"}
_SEEDS = (
    Cells("t1.{size}.seed{seed}", "table1_detectors", _RUNS, "f1_seed_{seed}", ONE),
    Cells("t1.{size}.{sample}.mean", "table1_detectors", _RUNS, "mean_{sample}", TWO),
    Cells("t1.{size}.{sample}.sd", "table1_detectors", _RUNS, "sd_{sample}", TWO),
    # The paper prints it in the usable runs' columns, but it is the median of all runs.
    Cells("t1.{size}.median", "table1_detectors", _RUNS, "median_all", TWO),
    Cells("welch.{runs}.diff", "seed_comparison", _COMPARED, "diff_pp", TWO),
    Cells("welch.{runs}.{end}", "seed_comparison", _COMPARED, "ci_{end}", TWO),
    Cells("welch.{runs}.p", "seed_comparison", _COMPARED, "p_welch", P_VALUE),
)

_THRESHOLD = {"threshold": "{threshold}"}
_VERIFIER = (
    Cells("ver.{claims}", "verifier_by_task", {"task": "pooled"}, "{claims}", COUNT),
    Cells("ver.gold_pos", "verifier_by_task", {"task": "pooled"}, "gold_positive", COUNT),
    Cells("ver.auc", "verifier_by_task", {"task": "pooled"}, "auc", THREE),
    Cells("ver.median.{task}", "verifier_by_task", {"task": "{task}"}, "median_p", THREE),
    Cells("t2.{threshold}.{outcome}", "table2_verifier", _THRESHOLD, "{outcome}", COUNT),
    Cells("t2.{threshold}.{score}", "table2_verifier", _THRESHOLD, "{score}", THREE),
)

CELLS = (*_SEEDS, *_SELECTION, *_VERIFIER, *_ARMS, *_TASKS, *_JUDGES)


@cache
def addresses() -> Mapping[str, Address]:
    """Return the cell of every known number, by its id."""
    return {number_id: address for cells in CELLS for number_id, address in _expand(cells)}


def _expand(cells: Cells) -> Iterator[tuple[str, Address]]:
    names = [name for _, name, _, _ in Formatter().parse(cells.ids) if name]
    for entries in product(*(WORDS[name].items() for name in names)):
        words = {name: word for name, (word, _) in zip(names, entries, strict=True)}
        ours = {name: own for name, (_, own) in zip(names, entries, strict=True)}
        row = {column: value.format(**ours) for column, value in cells.row.items()}
        address = Address(cells.table, row, cells.column.format(**ours), cells.printing)
        yield cells.ids.format(**words), address
