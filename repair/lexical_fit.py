"""Fits the lexical verifier on annotated answers; its output is the shipped JSON.

Reproduce it with `ragmend fit-verifier --data FOLDER --out FILE`, FOLDER holding RAGTruth's
train split.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragmend.errors import DataError
from ragmend.records import Claim, GoldSpan, Response, Source, TaskType
from ragmend.repair.claims import split_claims
from ragmend.repair.lexical_features import ClaimFeatures, Commonplaces, claim_features
from ragmend.repair.lexical_verifier import (
    EVIDENCE_DEPTH,
    ClaimCounts,
    Fitting,
    LexicalVerifier,
)
from ragmend.scoring import overlaps_any
from ragmend.text.content import supportable_stems
from ragmend.text.reading import SourceReading, read_source
from ragmend.text.tfidf import best_fragments
from ragmend.text.words import content_stems, words

if TYPE_CHECKING:
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

# Areas under the ROC curve by cross-validation (5 folds by source) on all train records at hand.
# Strong enough that no coverage coefficient turns negative to undo a near twin: .8650 against
# .8658 with C = 1.
INVERSE_PENALTY = 0.003
# Without weights .8582, with 300 stems .8650, with 1,000 .8653, with 3,000 .8649.
N_COMMONPLACES = 300

_NOTE = (
    "Fitted with balanced classes: the score orders claims and .50 is a useful threshold, but "
    "it is no calibrated probability. The train records at hand were question answering and a "
    "little summarisation, no data-to-text. A claim counts as unsupported if it shares at "
    "least one character with any annotated span."
)


class ClaimExample(NamedTuple):
    """One annotated claim, measured."""

    task_type: TaskType
    source_id: str
    record_id: str
    features: ClaimFeatures
    is_supported: bool


class Answered(NamedTuple):
    """A source, read, with its annotated answers."""

    source: Source
    reading: SourceReading
    answers: list[Response]


def fit_verifier(
    responses: Sequence[Response],
    sources: Mapping[str, Source],
    *,
    seed: int,
    development: frozenset[str],
) -> LexicalVerifier:
    """Fit the verifier on the claims of annotated responses.

    Args:
        responses: Annotated responses; all their label spans count.
        sources: Their sources, by id.
        seed: Seed of the development draw (recorded) and of the solver.
        development: Ids of sources that are held out: they serve the area under the curve
            and nothing else.

    Returns:
        The parameters, with the counts behind them and the held-out area under the curve.

    Raises:
        DataError: A response is not annotated, or the training claims are all alike.
    """
    answered = _read(responses, sources)
    training_sources = [each for each in answered if each.source.source_id not in development]
    held_out_sources = [each for each in answered if each.source.source_id in development]
    if not training_sources:
        raise DataError("fitting the verifier needs at least one source that is not held out")
    commonplaces = find_commonplaces(training_sources)
    training = claim_examples(training_sources, commonplaces)
    held_out = claim_examples(held_out_sources, commonplaces)
    if len({example.is_supported for example in training}) < 2:
        raise DataError("fitting the verifier needs supported and unsupported claims")
    scaler, model = _fit(training, seed=seed)
    return LexicalVerifier(
        feature_names=ClaimFeatures._fields,
        means=tuple(scaler.mean_.tolist()),
        scales=tuple(scaler.scale_.tolist()),
        coefficients=tuple(model.coef_[0].tolist()),
        intercept=float(model.intercept_[0]),
        commonplaces=commonplaces,
        fitting=Fitting(
            seed=seed,
            inverse_penalty=INVERSE_PENALTY,
            training=_count(training),
            development=_count(held_out),
            development_auc=_area(scaler, model, held_out),
            versions=_versions(),
            note=_NOTE,
        ),
    )


def dump_parameters(verifier: LexicalVerifier) -> bytes:
    """Return the parameter file's bytes: indented JSON, one value a line."""
    return (verifier.model_dump_json(indent=2) + "\n").encode()


def find_commonplaces(answered: Iterable[Answered]) -> Commonplaces:
    """Count the stems that answers use without their source having them; no label is read."""
    n_answers = 0
    missing_in: Counter[str] = Counter()
    for _, reading, answers in answered:
        n_answers += len(answers)
        for answer in answers:
            missing_in.update(set(supportable_stems(words(answer.text))) - reading.content)
    commonest = sorted(missing_in.items(), key=lambda item: (-item[1], item[0]))
    return Commonplaces(n_answers=n_answers, missing_in=dict(commonest[:N_COMMONPLACES]))


def claim_examples(answered: Iterable[Answered], commonplaces: Commonplaces) -> list[ClaimExample]:
    """Return every claim of annotated answers with its features, source by source."""
    return [example for each in answered for example in _examples_of(each, commonplaces)]


def is_supported(claim: Claim, gold_spans: Iterable[GoldSpan]) -> bool:
    """Tell whether a claim shares no character with any annotated span."""
    return not overlaps_any(claim.start, claim.end, ((s.start, s.end) for s in gold_spans))


def _read(responses: Iterable[Response], sources: Mapping[str, Source]) -> list[Answered]:
    by_source: dict[str, list[Response]] = {}
    for response in responses:
        by_source.setdefault(response.source_id, []).append(response)
    return [
        Answered(sources[source_id], read_source(sources[source_id]), answers)
        for source_id, answers in by_source.items()
    ]


def _examples_of(answered: Answered, commonplaces: Commonplaces) -> Iterator[ClaimExample]:
    source, reading, answers = answered
    claims = [(answer, claim) for answer in answers for claim in _split(answer)]
    stems_C = [content_stems(words(claim.text)) for _, claim in claims]
    matches_C = best_fragments(reading.tfidf, stems_C, top_k=EVIDENCE_DEPTH)
    for (answer, claim), matches in zip(claims, matches_C, strict=True):
        yield ClaimExample(
            task_type=source.task_type,
            source_id=source.source_id,
            record_id=answer.record_id,
            features=claim_features(reading, claim.text, matches, commonplaces),
            is_supported=is_supported(claim, answer.gold_spans or ()),
        )


def _split(answer: Response) -> list[Claim]:
    if answer.gold_spans is None:
        raise DataError(f"record {answer.record_id}: not annotated, so nothing can be learned")
    return split_claims(answer.text, record_id=answer.record_id)


def _fit(
    examples: Sequence[ClaimExample], *, seed: int
) -> tuple["StandardScaler", "LogisticRegression"]:
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler().fit(_matrix(examples))
    model = LogisticRegression(
        C=INVERSE_PENALTY, class_weight="balanced", max_iter=1000, random_state=seed
    )
    supported_C = [example.is_supported for example in examples]
    return scaler, model.fit(scaler.transform(_matrix(examples)), supported_C)


def _area(
    scaler: "StandardScaler", model: "LogisticRegression", examples: Sequence[ClaimExample]
) -> float | None:
    """Return the area under the ROC curve; None where it is undefined."""
    from sklearn.metrics import roc_auc_score

    supported_C = [example.is_supported for example in examples]
    if len(set(supported_C)) < 2:
        return None
    logit_C = model.decision_function(scaler.transform(_matrix(examples)))
    return float(roc_auc_score(supported_C, logit_C))


def _matrix(examples: Sequence[ClaimExample]) -> NDArray[np.float64]:
    return np.array([example.features for example in examples], dtype=np.float64)


def _count(examples: Sequence[ClaimExample]) -> dict[str, ClaimCounts]:
    counts: dict[str, ClaimCounts] = {}
    for task in sorted({example.task_type for example in examples}):
        of_task = [example for example in examples if example.task_type == task]
        counts[task] = ClaimCounts(
            n_sources=len({example.source_id for example in of_task}),
            n_responses=len({example.record_id for example in of_task}),
            n_claims=len(of_task),
            n_supported=sum(example.is_supported for example in of_task),
        )
    return counts


def _versions() -> dict[str, str]:
    import sklearn

    return {"numpy": np.__version__, "scikit-learn": sklearn.__version__}
