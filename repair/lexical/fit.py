"""Fits the lexical verifier on annotated answers; its output is the shipped JSON.

Each feature becomes a curve between a few knots, all curves together one logistic regression
with a ridge penalty. Every figure in the file, the shift too, comes from held-out claims: the
sources are dealt into folds, and each fold is scored by a model that has not seen its labels
(which words are commonplace is counted on all answers; that reads no label).

Reproduce it with `ragmend fit-verifier --data FOLDER --out FILE`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ragmend.errors import DataError
from ragmend.records import Response, Source, record_order
from ragmend.repair.lexical.curves import AdditiveModel, Curve
from ragmend.repair.lexical.examples import (
    ClaimExample,
    claim_examples,
    find_commonplaces,
    read_answered,
)
from ragmend.repair.lexical.features import ANSWER_FEATURES, CLAIM_FEATURES
from ragmend.repair.lexical.parameters import Fitting, Parameters, TaskFit

# Chosen by cross-validation over sources, on the folds of another seed.
N_FOLDS = 5
INVERSE_PENALTY = 0.003
KNOT_QUANTILES = (0.0, 0.25, 0.5, 0.75, 0.95, 1.0)
MAX_DISTINCT = 4  # a feature with so few values gets a knot at each
# Source: arXiv 2608.29307, section 6: 3,014 of 7,926 claims were below .50.
TARGET_SHARE = 3014 / 7926

_NOTE = (
    "A claim counts as unsupported if it shares at least one character with any annotated span. "
    "The shift, by held-out claims, makes .50 a useful threshold and the result a score, not a "
    "probability."
)

Matrix = NDArray[np.float64]


def fit_verifier(
    responses: Iterable[Response], sources: Mapping[str, Source], *, seed: int, origin: str
) -> Parameters:
    """Fit the verifier on the claims of annotated responses.

    Args:
        responses: Annotated responses, in any order; all their label spans count.
        sources: Their sources, by id.
        seed: Seed by which sources are dealt into folds.
        origin: Which records they are, for the note in the file.

    Returns:
        The parameters, with the counts behind them and the held-out areas under the curve.

    Raises:
        DataError: A response is not annotated, there are fewer sources than folds, or the
            claims of a part are all alike.
    """
    in_order = sorted(responses, key=lambda response: record_order(response.record_id))
    answered = list(read_answered(in_order, sources))
    commonplaces = find_commonplaces(answered)
    examples = list(claim_examples(answered, commonplaces))
    fold_of = _deal([each.source.source.source_id for each in answered], seed=seed)
    fold_C = np.array([fold_of[example.source_id] for example in examples])
    claim_model, held_out_C = _fit_shifted(examples, fold_C, CLAIM_FEATURES, _by_itself)
    answer_model, held_out_in_answer_C = _fit_shifted(
        examples, fold_C, ANSWER_FEATURES, _in_its_answer
    )
    return Parameters(
        claim_model=claim_model,
        answer_model=answer_model,
        commonplaces=commonplaces,
        fitting=Fitting(
            seed=seed,
            n_folds=N_FOLDS,
            inverse_penalty=INVERSE_PENALTY,
            target_share=TARGET_SHARE,
            tasks=_describe_tasks(examples, held_out_C, held_out_in_answer_C, claim_model.shift),
            source_ids=tuple(sorted(fold_of, key=record_order)),
            versions=_versions(),
            note=f"Fitted on {origin}. {_NOTE}",
        ),
    )


def area_under_curve(supported_C: Sequence[bool], log_odds_C: Sequence[float]) -> float | None:
    """Return the area under the ROC curve; None where all claims are alike."""
    from sklearn.metrics import roc_auc_score

    if len(set(supported_C)) < 2:
        return None
    return float(roc_auc_score(supported_C, log_odds_C))


def _deal(source_ids: Sequence[str], *, seed: int) -> dict[str, int]:
    """Deal sources into folds of equal size; their order does not matter."""
    if len(source_ids) < N_FOLDS:
        raise DataError(f"fitting needs at least {N_FOLDS} sources, there are {len(source_ids)}")
    ids = sorted(source_ids, key=record_order)
    order = np.random.default_rng(seed).permutation(len(ids))
    return {ids[at]: place % N_FOLDS for place, at in enumerate(order.tolist())}


def _by_itself(example: ClaimExample) -> tuple[float, ...]:
    return example.features


def _in_its_answer(example: ClaimExample) -> tuple[float, ...]:
    return (*example.features, *example.place)


def _fit_shifted(
    examples: Sequence[ClaimExample],
    fold_C: NDArray[np.int64],
    names: Sequence[str],
    measured: Callable[[ClaimExample], tuple[float, ...]],
) -> tuple[AdditiveModel, Matrix]:
    """Return the model of all claims, its shift from held-out ones, and their log odds."""
    features_CF = np.array([measured(example) for example in examples])
    supported_C = np.array([example.is_supported for example in examples])
    held_out_C = np.empty(len(examples))
    for fold in range(N_FOLDS):
        is_own_C = fold_C == fold
        model = _fit(features_CF[~is_own_C], supported_C[~is_own_C], names)
        held_out_C[is_own_C] = [model.log_odds(row) for row in features_CF[is_own_C].tolist()]
    hallucinated_C = np.array([example.is_answer_hallucinated for example in examples])
    shift = -float(np.quantile(held_out_C[hallucinated_C], TARGET_SHARE))
    model = _fit(features_CF, supported_C, names)
    return model.model_copy(update={"shift": shift}), held_out_C


def _fit(
    features_CF: Matrix, supported_C: NDArray[np.bool_], names: Sequence[str]
) -> AdditiveModel:
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    if len(set(supported_C.tolist())) < 2:
        raise DataError("fitting the verifier needs supported and unsupported claims")
    knots_F = [_knots(column) for column in features_CF.T]
    columns = [_hats(column, knots) for column, knots in zip(features_CF.T, knots_F, strict=True)]
    hats_CH = np.hstack(columns)
    mean_H, scale_H = hats_CH.mean(axis=0), hats_CH.std(axis=0)
    scale_H[scale_H == 0.0] = 1.0
    with threadpool_limits(1):
        fitted = LogisticRegression(C=INVERSE_PENALTY, max_iter=2000).fit(
            (hats_CH - mean_H) / scale_H, supported_C
        )
    weight_H = fitted.coef_[0] / scale_H
    values_F = np.split(weight_H, np.cumsum([len(knots) for knots in knots_F])[:-1])
    return AdditiveModel(
        curves=tuple(
            Curve(feature=name, knots=tuple(knots.tolist()), values=tuple(values.tolist()))
            for name, knots, values in zip(names, knots_F, values_F, strict=True)
        ),
        intercept=float(fitted.intercept_[0] - weight_H @ mean_H),
        shift=0.0,
    )


def _knots(column: Matrix) -> Matrix:
    distinct = np.unique(column)
    if len(distinct) <= MAX_DISTINCT:
        return distinct
    return np.unique(np.quantile(column, KNOT_QUANTILES))


def _hats(column: Matrix, knots: Matrix) -> Matrix:
    """Return one column a knot: 1 there, 0 at the others, straight between."""
    return np.stack([np.interp(column, knots, row) for row in np.eye(len(knots))], axis=1)


def _describe_tasks(
    examples: Sequence[ClaimExample], by_itself_C: Matrix, in_answer_C: Matrix, shift: float
) -> dict[str, TaskFit]:
    task_C = np.array([example.task_type for example in examples])
    return {
        task: _describe(
            [example for example in examples if example.task_type == task],
            by_itself_C[task_C == task],
            in_answer_C[task_C == task],
            shift,
        )
        for task in sorted(set(task_C.tolist()))
    }


def _describe(
    examples: Sequence[ClaimExample], by_itself_C: Matrix, in_answer_C: Matrix, shift: float
) -> TaskFit:
    supported_C = [example.is_supported for example in examples]
    hallucinated_C = np.array([example.is_answer_hallucinated for example in examples])
    below_H = by_itself_C[hallucinated_C] + shift < 0.0
    return TaskFit(
        n_sources=len({example.source_id for example in examples}),
        n_responses=len({example.record_id for example in examples}),
        n_claims=len(examples),
        n_unsupported=len(examples) - sum(supported_C),
        auc=area_under_curve(supported_C, by_itself_C.tolist()),
        auc_in_answer=area_under_curve(supported_C, in_answer_C.tolist()),
        below=float(below_H.mean()) if below_H.size else None,
    )


def _versions() -> dict[str, str]:
    import sklearn

    return {"numpy": np.__version__, "scikit-learn": sklearn.__version__}
