"""The verifier's parameter file: readable JSON that says where it comes from."""

from pathlib import Path
from typing import Literal, Self

from pydantic import Field, model_validator

from ragmend.errors import DataError, MissingInputError
from ragmend.io import read_record
from ragmend.records import Count, Finite, Probability, Record
from ragmend.repair.lexical.curves import AdditiveModel
from ragmend.repair.lexical.features import ANSWER_FEATURES, CLAIM_FEATURES
from ragmend.repair.lexical.wording import Commonplaces


class TaskFit(Record):
    """How much stood behind a fit, of one task, and how well held-out claims were ordered.

    Attributes:
        n_sources: Sources.
        n_responses: Responses.
        n_claims: Claims of these responses.
        n_unsupported: Claims that share a character with an annotated span.
        auc: Area under the ROC curve of held-out claims, the claim and its source alone; None
            where it is undefined.
        auc_in_answer: The same with answer-level features.
        below: Share of the held-out claims of gold-hallucinated answers that the shift puts
            below .50; None where there are none.
    """

    n_sources: Count
    n_responses: Count
    n_claims: Count
    n_unsupported: Count
    auc: Probability | None
    auc_in_answer: Probability | None
    below: Probability | None


class Fitting(Record):
    """Where the parameters come from.

    Attributes:
        seed: Seed by which sources were dealt into folds.
        n_folds: Folds of sources; every figure here is of claims whose source's labels were
            held out (which words are commonplace was counted on all, without labels).
        inverse_penalty: scikit-learn's C.
        target_share: Share of the held-out claims of gold-hallucinated answers, of all tasks
            together, that the shift puts below .50.
        tasks: What was fitted on, by task.
        source_ids: Every source that was fitted on; no test figure may use them.
        versions: Versions of the libraries that fitted.
        note: What a reader has to know.
    """

    seed: int
    n_folds: Count
    inverse_penalty: Finite
    target_share: Probability
    tasks: dict[str, TaskFit]
    source_ids: tuple[str, ...]
    versions: dict[str, str]
    note: str


class Parameters(Record):
    """A fitted verifier: one model of a claim by itself, one of a claim in its answer."""

    format_version: Literal[2] = 2
    claim_model: AdditiveModel
    answer_model: AdditiveModel
    commonplaces: Commonplaces
    fitting: Fitting = Field(repr=False)

    @model_validator(mode="after")
    def _fits_the_code(self) -> Self:
        for model, expected in (
            (self.claim_model, CLAIM_FEATURES),
            (self.answer_model, ANSWER_FEATURES),
        ):
            names = tuple(curve.feature for curve in model.curves)
            if names != expected:
                raise ValueError(f"features {names} are not {expected}")
        return self

    def describe(self) -> list[str]:
        """Return a line a task on what was fitted and how well it orders held-out claims."""
        return [
            f"{task:8}  {fit.n_claims} claims ({fit.n_unsupported} unsupported) of "
            f"{fit.n_responses} answers to {fit.n_sources} sources; held-out AUC "
            f"{_area(fit.auc)}, with answer-level features {_area(fit.auc_in_answer)}; below .50 "
            f"in hallucinated answers {_area(fit.below)}"
            for task, fit in self.fitting.tasks.items()
        ]


def parameters_path() -> Path:
    """Return the path of the shipped parameters."""
    return Path(__file__).with_name("parameters.json")


def load_parameters(path: Path | None = None) -> Parameters:
    """Read a fitted verifier.

    Args:
        path: A parameter file; None: the one that is shipped.

    Raises:
        MissingInputError: There is no such file.
        DataError: It is not a parameter file for the features of this version.
    """
    path = parameters_path() if path is None else path
    if not path.exists():
        raise MissingInputError(f"{path}: no such parameter file of the lexical verifier")
    try:
        return read_record(path, Parameters)
    except DataError as error:
        raise DataError(
            f"{error}; these are no parameters for this version's features: fit them anew with "
            "`ragmend fit-verifier`"
        ) from error


def dump_parameters(parameters: Parameters) -> bytes:
    """Return the parameter file's bytes: indented JSON, one value a line."""
    return (parameters.model_dump_json(indent=2) + "\n").encode()


def _area(auc: float | None) -> str:
    return "undefined" if auc is None else f"{auc:.4f}"
