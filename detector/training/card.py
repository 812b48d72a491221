"""The model card beside a detector's weights: what it is, how it scored, whether it is healthy."""

import json
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ragmend.detector.qlora.prompting import detect_prompt
from ragmend.detector.training.job import Job
from ragmend.records import DetectorScore
from ragmend.scoring import Score
from ragmend.trained import EpochScore, HealthReport, TrainingStart


class CardFacts(NamedTuple):
    """All that a card says.

    Attributes:
        job: The training.
        start: Its data and settings.
        scores: Its development scores, by epoch and level.
        health: Its verdict.
        commit: Of the code that trained it, if known.
        test: Its scores on the test split, once it was evaluated there.
        n_evaluations: How often a training of this name was.
    """

    job: Job
    start: TrainingStart
    scores: Sequence[EpochScore]
    health: HealthReport
    commit: str | None
    test: Sequence[DetectorScore] = ()
    n_evaluations: int = 0


def render_card(facts: CardFacts) -> str:
    """Return the card as Markdown with the head that model hubs read."""
    job, model = facts.job, facts.job.trained.model
    revision = model.revision or "not given"
    return "\n".join(
        [
            *_head(facts),
            f"# {job.run_id}: a hallucination detector",
            "",
            f"Base model {model.id}, revision {revision}; {_how(job)}.",
            f"Health: **{facts.health.verdict}**.",
            *(f"- {reason}" for reason in facts.health.reasons),
            "",
            "## Scores",
            "",
            *_score_table(facts),
            "",
            (
                f"Development: {facts.start.n_development} answers to sources that no training "
                "answer has; the epoch was chosen on them, so that these scores are optimistic. An "
                "empty or unreadable answer counts as not flagged."
            ),
            *_test_note(facts),
            "",
            *_how_to_ask(facts),
            "## Training",
            "",
            f"- seed {job.seed}, {facts.start.n_train} answers of RAGTruth's train split",
            *(f"- {name}: SHA-256 {digest}" for name, digest in sorted(facts.start.inputs.items())),
            f"- training ids: SHA-256 {facts.start.train_ids_sha256}",
            f"- development ids: SHA-256 {facts.start.development_ids_sha256}",
            f"- code: {facts.commit or 'commit not known'}",
            f"- recipe: `{json.dumps(facts.start.settings['recipe'], sort_keys=True)}`",
            *(f"- {name} {version}" for name, version in sorted(facts.start.packages.items())),
            "",
            "Made by ragmend; the recipe follows arXiv 2608.29307.",
            "",
        ]
    )


def _head(facts: CardFacts) -> list[str]:
    is_generative = facts.job.trained.kind == "generative"
    library, task = (
        ("peft", "text-generation") if is_generative else ("transformers", "token-classification")
    )
    return [
        "---",
        f"base_model: {json.dumps(facts.job.trained.model.id)}",
        f"library_name: {library}",
        f"pipeline_tag: {task}",
        "tags: [hallucination-detection, ragtruth, ragmend]",
        "---",
        "",
    ]


def _how(job: Job) -> str:
    recipe, model = job.recipe, job.trained.model
    if job.trained.kind == "token-classification":
        return f"trained as a whole, learning rate {recipe.learning_rate:g}"
    base = "in 4 bits (NF4, twice quantised)" if model.quantization else f"in {model.dtype}"
    lora = recipe.lora
    return (
        f"loaded {base}, adapter of rank {lora.r}, alpha {lora.alpha}, learning rate "
        f"{recipe.learning_rate:g}"
    )


def _how_to_ask(facts: CardFacts) -> list[str]:
    """Return what somebody needs who asks a generative detector elsewhere."""
    tokens = facts.health.tokens
    if tokens is None:
        return []
    prompt = detect_prompt()
    how = (
        f"Plain text without a chat template (prompt {prompt.name}, version {prompt.version}, "
        f"SHA-256 {prompt.sha256}); in data, `<` and `[` that could begin a tag or token are "
        f"followed by a space. Its answer ends with {tokens.end_token!r}; padding, on the left, is "
        f"{tokens.pad_token!r}; greedy, up to {facts.job.recipe.answer_tokens} tokens."
    )
    return [
        "## How it is asked",
        "",
        how,
        "",
        "```",
        f"{prompt.system}\n\n{prompt.user}",
        "```",
        "",
    ]


def _score_table(facts: CardFacts) -> Iterator[str]:
    yield "| answers | level | epoch | P % | R % | F1 % |"
    yield "| --- | --- | ---: | ---: | ---: | ---: |"
    for row in facts.scores:
        if row.chosen:
            rates = _rates(Score(row.tp, row.fp, row.fn, row.tn))
            yield f"| development | {row.level} | {row.epoch} | {rates} |"
    for score in facts.test:
        if score.protocol == "all" and score.group == "pooled":
            rates = _rates(Score(score.tp, score.fp, score.fn, score.tn))
            yield f"| test | {score.level} | | {rates} |"


def _rates(score: Score) -> str:
    rates = (score.precision, score.recall, score.f1)
    return " | ".join("—" if rate is None else f"{100 * rate:.1f}" for rate in rates)


def _test_note(facts: CardFacts) -> list[str]:
    if not facts.n_evaluations:
        return ["", "It was not evaluated on the test split."]
    times = "once" if facts.n_evaluations == 1 else f"{facts.n_evaluations} times"
    if not facts.test:
        return [
            "",
            f"Trainings of this name were evaluated on the test split {times}, not this one.",
        ]
    return ["", f"Trainings of this name were evaluated on the test split {times}."]
