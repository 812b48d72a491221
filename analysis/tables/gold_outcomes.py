"""What became of each annotated answer's claims in one arm, counted by gold and fate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from ragmend.analysis.inputs.arms import arm_order
from ragmend.analysis.inputs.frames import DROPPED_WITHOUT_CONTENT, KEPT_AS_HEAD, Frames, needed
from ragmend.analysis.inputs.splits import evaluated_claims, is_development
from ragmend.errors import AccountingError, StatisticsError
from ragmend.records import TASKS

if TYPE_CHECKING:
    import pandas as pd

ClaimGold = Literal["unsupported", "supported", "unknown"]
Fate = Literal["removed", "changed", "kept"]

CLAIM_GOLDS: tuple[ClaimGold, ...] = get_args(ClaimGold)
FATES: tuple[Fate, ...] = get_args(Fate)
POOLED = "all"
GOLD_CLAIM_COLUMNS = ("record_id", "claim_id", "task", "record_gold", "gold_unsupported")
RECORD_COLUMNS = ("record_id", "source_id", "task", "gold")

_CELLS = [f"{gold}_{fate}" for gold in CLAIM_GOLDS for fate in FATES]
_FATE_OF: dict[str, Fate] = {
    "drop": "removed",
    "substitute": "changed",
    "rewrite": "changed",
    "keep": "kept",
}
_FATE_BY_EDIT: dict[str, Fate] = {DROPPED_WITHOUT_CONTENT: "removed", KEPT_AS_HEAD: "kept"}


class GoldOutcomes(NamedTuple):
    """The annotated answers, and what each arm did to them."""

    by_arm: dict[str, pd.DataFrame]
    """One row an answer, in order of record id: record_id, source_id, task, gold (0/1). Counts
    of its claims: "unsupported", "unsupported_removed", "…_changed", "…_kept", "…_edited"
    (removed or changed); the same of "supported" and "unknown". And 0 or 1: "clean",
    "hallucinated", each alone and as "…_edited"; "cleared": hallucinated, and of its
    unsupported claims, at least one, none was kept."""
    n_unannotated: int
    """Answers without annotation, left out."""
    has_sources: bool
    """Whether the input says which answers share a source; else each is its own."""

    @property
    def tasks(self) -> list[str]:
        """All tasks together, then each that occurs: the known ones first."""
        found = set(next(iter(self.by_arm.values()))["task"])
        known = [task for task in TASKS if task in found]
        return [POOLED, *known, *sorted(found - set(known))]

    def of_task(self, task: str) -> dict[str, pd.DataFrame]:
        """Return the answers of one task, or all, by arm."""
        if task == POOLED:
            return self.by_arm
        return {arm: answers[answers["task"] == task] for arm, answers in self.by_arm.items()}


def gold_outcomes(frames: Frames) -> GoldOutcomes:
    """Count the claims of every annotated answer by gold and fate, arm by arm.

    Records that a threshold was chosen on are left out, with their claims.

    A claim is unsupported by gold where it shares a character with an annotated span, and
    unknown where its place in the answer is (`gold_unsupported` is NA).

    What stands in the answer counts: a kept claim whose text assembly took out is removed, a
    dropped heading that stays over its content is kept.

    Args:
        frames: Its claims: the columns `GOLD_CLAIM_COLUMNS` and one `action_<arm>` an arm;
            and its records, if there: the columns `RECORD_COLUMNS`; without them answers
            come from the claims, so that one without a claim is unknown. And its actions, if
            there: record_id, claim_id, arm, edits.

    Raises:
        StatisticsError: A column is missing, a claim occurs twice, there is no arm, an
            action is unknown, or a gold value is not 0, 1 or NA.
        AccountingError: An answer has two gold labels, or an unsupported claim without
            being hallucinated; or a claim's answer is not among the records.
    """
    given = needed(frames, "claims", GOLD_CLAIM_COLUMNS, key=["record_id", "claim_id"])
    claims = evaluated_claims(given)
    arms = arm_order(_arms(claims))
    if not arms:
        raise StatisticsError("claims: no column action_<arm>, so that nothing was repaired")
    answers = _all_answers(frames, claims)
    answers = answers[~answers["record_id"].isin(_developed(given))]
    _check_gold(claims, answers)
    annotated = answers[answers["gold"].notna()].astype({"gold": int})
    return GoldOutcomes(
        by_arm={
            arm: _outcomes(annotated, claims, arm, _fates_in_assembly(frames, arm)) for arm in arms
        },
        n_unannotated=len(answers) - len(annotated),
        has_sources=_has_sources(frames),
    )


def _arms(claims: pd.DataFrame) -> list[str]:
    columns = [str(column) for column in claims.columns]
    return [name.removeprefix("action_") for name in columns if name.startswith("action_")]


def _all_answers(frames: Frames, claims: pd.DataFrame) -> pd.DataFrame:
    """Return record_id, source_id, task and gold of every answer, those without a claim too."""
    if _has_sources(frames):
        records = needed(frames, "records", RECORD_COLUMNS, key=["record_id"])
        _refuse("is not among the records", claims[~claims["record_id"].isin(records["record_id"])])
        answers = records[list(RECORD_COLUMNS)]
    else:
        columns = {"record_gold": "gold"}
        answers = claims[["record_id", "task", "record_gold"]].rename(columns=columns)
        answers = answers.drop_duplicates("record_id").assign(source_id=answers["record_id"])
    answers = answers.astype({"source_id": str})
    return answers.sort_values("record_id", key=lambda ids: ids.astype(str))


def _developed(claims: pd.DataFrame) -> pd.Series[Any]:
    """Return the ids of the records that a threshold was chosen on."""
    return claims["record_id"][is_development(claims)]


def _has_sources(frames: Frames) -> bool:
    return frames.records is not None and set(RECORD_COLUMNS) <= set(frames.records)


def _check_gold(claims: pd.DataFrame, answers: pd.DataFrame) -> None:
    own = claims["record_id"].map(answers.set_index("record_id")["gold"]).astype("Int64")
    given, unsupported = (
        claims[name].astype("Int64") for name in ("record_gold", "gold_unsupported")
    )
    _refuse("has two gold labels", claims[own.fillna(-1) != given.fillna(-1)])
    is_contradictory = unsupported.fillna(0).eq(1) & own.fillna(0).ne(1)
    message = "has a claim that gold calls unsupported, but is not hallucinated by gold"
    _refuse(message, claims[is_contradictory])


def _fates_in_assembly(frames: Frames, arm: str) -> dict[tuple[str, str], Fate]:
    """Return the fate of each claim of an arm that assembly decided otherwise than the arm."""
    if frames.actions is None:
        return {}
    actions = frames.actions[frames.actions["arm"] == arm]
    return {
        (record_id, claim_id): fate
        for record_id, claim_id, edits in zip(
            actions["record_id"], actions["claim_id"], actions["edits"], strict=True
        )
        for edit, fate in _FATE_BY_EDIT.items()
        if edit in edits
    }


def _outcomes(
    answers: pd.DataFrame,
    claims: pd.DataFrame,
    arm: str,
    by_assembly: dict[tuple[str, str], Fate],
) -> pd.DataFrame:
    counts = _fate_counts(claims, arm, by_assembly).reindex(answers["record_id"], fill_value=0)
    outcomes = answers.join(counts, on="record_id")
    for gold in CLAIM_GOLDS:
        outcomes[f"{gold}_edited"] = outcomes[f"{gold}_removed"] + outcomes[f"{gold}_changed"]
        outcomes[gold] = outcomes[f"{gold}_edited"] + outcomes[f"{gold}_kept"]
    is_edited = outcomes[[f"{gold}_edited" for gold in CLAIM_GOLDS]].any(axis=1)
    is_cleared = (outcomes["unsupported"] > 0) & (outcomes["unsupported_kept"] == 0)
    for name, label in (("clean", 0), ("hallucinated", 1)):
        is_such = outcomes["gold"] == label
        outcomes[name] = is_such.astype(int)
        outcomes[f"{name}_edited"] = (is_such & is_edited).astype(int)
    return outcomes.assign(cleared=is_cleared.astype(int))


def _fate_counts(
    claims: pd.DataFrame, arm: str, by_assembly: dict[tuple[str, str], Fate]
) -> pd.DataFrame:
    """Count an arm's claims of each answer: one row an answer, one column a gold and fate."""
    import pandas as pd

    actions = claims[f"action_{arm}"]
    unknown = claims[~actions.isin(list(_FATE_OF))]
    if len(unknown):
        row = unknown.iloc[0]
        raise StatisticsError(
            f"claims: record {row['record_id']}, claim {row['claim_id']}: action "
            f"{row[f'action_{arm}']!r} in the {arm} arm, expected one of {', '.join(_FATE_OF)}"
        )
    golds = claims["gold_unsupported"].map({1: "unsupported", 0: "supported"}).fillna("unknown")
    keys = zip(claims["record_id"], claims["claim_id"], actions, strict=True)
    fates = pd.Series(
        [by_assembly.get((r, c), _FATE_OF[action]) for r, c, action in keys], index=claims.index
    )
    counts = claims.groupby(["record_id", golds + "_" + fates]).size().unstack(fill_value=0)
    return counts.reindex(columns=_CELLS, fill_value=0)


def _refuse(message: str, wrong: pd.DataFrame) -> None:
    if len(wrong):
        raise AccountingError(f"claims: record {wrong.iloc[0]['record_id']} {message}")
