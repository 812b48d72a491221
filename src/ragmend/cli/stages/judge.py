"""Stage `judge`: every judge of the panel on every answer in every condition."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from pydantic import JsonValue

from ragmend.cli.backends import judge_entries
from ragmend.cli.context import Context, Outcome, Stage, run_inputs
from ragmend.cli.data import Population, read_population
from ragmend.cli.journaling import Unit, answer_units
from ragmend.config import Config
from ragmend.errors import AccountingError, AnswerFaultError
from ragmend.io import read_records, sha256_of, write_records
from ragmend.judges.panel import judge_answer
from ragmend.paths import manifest_path
from ragmend.records import Judgement, RepairedAnswer
from ragmend.text.reading import SourceReading, read_source


def _execute(context: Context) -> Outcome:
    config, paths = context.config, context.paths
    population = read_population(paths)
    answers = list(read_records(paths.answers, RepairedAnswer))
    n_units = len(answers) * len(config.judges.panel)
    judged = answer_units(
        _units(population, answers, config),
        model=Judgement,
        stage="judge",
        folder=paths.judgements.parent,
        n_units=n_units,
    )
    if len(judged.records) + len(judged.faults) != n_units:
        raise AccountingError(f"{n_units} judgements asked for, {len(judged.records)} made")
    write_records(paths.judgements, judged.records)
    counts: dict[str, JsonValue] = {
        "answers": len(answers),
        "judgements": len(judged.records),
        "empty_answers": sum(answer.text == "" for answer in answers),
    }
    models = {f"judge:{judge.name}": judge.backend for judge in config.judges.panel}
    return Outcome(
        (paths.judgements,), counts, models, n_units=n_units, faults=tuple(judged.faults)
    )


def _units(
    population: Population, answers: list[RepairedAnswer], config: Config
) -> Iterator[Unit[Judgement]]:
    responses = {response.record_id: response for response in population.responses}
    entries = judge_entries(config)
    last: tuple[str, str, SourceReading] | None = None
    for answer in answers:
        source = population.source_of(responses[answer.record_id])
        # Answers come ordered by source, so that each source is read and hashed once.
        if last is None or last[0] != source.source_id:
            digest = sha256_of(source.model_dump(mode="json"))
            last = (source.source_id, digest, read_source(source))
        for judge, entry in zip(config.judges.panel, entries, strict=True):
            request: dict[str, JsonValue] = {
                "judge": entry,
                "condition": answer.condition,
                "source_sha256": last[1],
                "answer": answer.text,
            }
            compute = partial(_judge, judge.name, last[2], answer)
            yield Unit(answer.record_id, request, compute, answer.condition, judge.name)


def _judge(name: str, reading: SourceReading, answer: RepairedAnswer) -> list[Judgement]:
    judgement = judge_answer(
        name, reading, record_id=answer.record_id, condition=answer.condition, answer=answer.text
    )
    for span in judgement.spans:
        if answer.text[span.start : span.end] != span.text:
            message = f"span {span.start}:{span.end} does not hold {span.text!r}"
            raise AnswerFaultError(message, status="malformed")
    return [judgement]


def _inputs(context: Context) -> dict[str, Path]:
    paths = context.paths
    return run_inputs(context, paths.population, paths.sources, paths.answers)


JUDGE = Stage(
    name="judge",
    manifest=lambda context: manifest_path(context.paths.judgements),
    inputs=_inputs,
    settings=lambda config: {"judges": judge_entries(config)},
    execute=_execute,
)
