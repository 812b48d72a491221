"""Stage `judge`: every judge of the panel on every answer in every condition."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from pydantic import JsonValue

from ragmend.cli.asking import Answers, Asking, Unit, asking
from ragmend.cli.context import Context, Outcome, PartOutcome, Stage, run_inputs
from ragmend.cli.data import Population, by_source, own_records, read_population
from ragmend.cli.event_loop import run_to_end
from ragmend.cli.roles.identities import judge_entries, judge_entry, prompt_entries
from ragmend.cli.roles.parts import Handle, open_judge
from ragmend.cli.sharding.journals import journals_of
from ragmend.cli.shortened import list_shortened, shortened_of
from ragmend.config import Config
from ragmend.errors import AccountingError, AnswerFaultError
from ragmend.io import read_records, sha256_of, write_records
from ragmend.judges.judging import Judge, judge_answer
from ragmend.paths import manifest_path
from ragmend.records import Fault, Judgement, RepairedAnswer, Source
from ragmend.sections.roles import JudgeConfig


class Bench(NamedTuple):
    """What the judges said, one after the other, and who they were."""

    answers: list[Answers[Judgement]]
    handles: dict[str, Handle[Judge]]


def _execute(context: Context) -> Outcome:
    config, paths, folder = context.config, context.paths, context.paths.judgements.parent
    answers = list(read_records(paths.answers, RepairedAnswer))
    settled = None if context.fold is None else context.fold.faults()
    journals = journals_of(context, folder)
    with asking("judge", folder, config.client, journals=journals, settled=settled) as stage:
        population, panel = read_population(paths), config.judges.panel
        bench = run_to_end(partial(_judge_all, context, stage, population, answers, panel))
    judgements = [record for judged in bench.answers for record in judged.records]
    faults: list[Fault] = [fault for judged in bench.answers for fault in judged.faults]
    n_units = len(answers) * len(config.judges.panel)
    if len(judgements) + len(faults) != n_units:
        raise AccountingError(f"{n_units} judgements asked for, {len(judgements)} made")
    write_records(paths.judgements, judgements)
    shortened = list_shortened(paths.judgements.parent, map(shortened_of, judgements))
    counts: dict[str, JsonValue] = {
        "answers": len(answers),
        "judgements": len(judgements),
        "empty_answers": sum(answer.text == "" for answer in answers),
        **shortened.counts,
    }
    servers: dict[str, JsonValue] = {}
    service: dict[str, JsonValue] = {}
    for name, handle in bench.handles.items():
        servers |= handle.facts(name)
        service |= handle.usage(name)
    return Outcome(
        (paths.judgements, *shortened.files),
        counts,
        _models_of(config.judges.panel),
        n_units=n_units,
        faults=tuple(faults),
        servers=servers,
        service=service,
    )


def _answer_part(context: Context, stage: Asking) -> PartOutcome:
    population = read_population(context.paths, context.part)
    answers = list(own_records(context, population, context.paths.answers, RepairedAnswer))
    own = [j for j in context.config.judges.panel if context.part and j.name == context.part.role]
    bench = run_to_end(partial(_judge_all, context, stage, population, answers, own))
    (judge,), (judged,), (handle,) = own, bench.answers, bench.handles.values()
    return PartOutcome(
        len(answers),
        tuple(judged.faulty),
        _models_of(own),
        handle.facts(judge.name),
        handle.usage(judge.name),
    )


def _models_of(judges: Sequence[JudgeConfig]) -> dict[str, str]:
    return {
        f"judge:{judge.name}": judge.backend if judge.model is None else judge.model.id
        for judge in judges
    }


async def _judge_all(
    context: Context,
    stage: Asking,
    population: Population,
    answers: list[RepairedAnswer],
    judges: Sequence[JudgeConfig],
) -> Bench:
    """Let one judge after the other judge all answers: one model at a time is in use."""
    bench = Bench([], {})
    for judge in judges:
        async with open_judge(context, judge, context.paths.judgements.parent) as handle:
            judged = await stage.answer(
                _units(population, answers, judge, handle.part, context.config),
                model=Judgement,
                n_units=len(answers),
                prepare=handle.open,
                describe=handle.describe,
            )
        bench.answers.append(judged)
        bench.handles[judge.name] = handle
    return bench


def _units(
    population: Population,
    answers: list[RepairedAnswer],
    judge: JudgeConfig,
    part: Judge,
    config: Config,
) -> Iterator[Unit[Judgement]]:
    responses = {response.record_id: response for response in population.responses}
    identity: dict[str, JsonValue] = {
        "judge": judge_entry(judge),
        "prompt": None if judge.backend == "lexical" else prompt_entries(config)["judges"],
    }
    digests: dict[str, str] = {}
    for answer in by_source(answers, lambda answer: responses[answer.record_id].source_id):
        source = population.source_of(responses[answer.record_id])
        if source.source_id not in digests:
            digests[source.source_id] = sha256_of(source.model_dump(mode="json"))
        request: dict[str, JsonValue] = {
            **identity,
            "condition": answer.condition,
            "source_sha256": digests[source.source_id],
            "answer": answer.text,
        }
        compute = partial(_judge, part, judge.name, source, answer)
        yield Unit(
            answer.record_id, source.source_id, request, compute, answer.condition, judge.name
        )


async def _judge(
    judge: Judge, name: str, source: Source, answer: RepairedAnswer
) -> list[Judgement]:
    judgement = await judge_answer(
        judge,
        source,
        name=name,
        record_id=answer.record_id,
        condition=answer.condition,
        answer=answer.text,
    )
    for span in judgement.spans:
        if answer.text[span.start : span.end] != span.text:
            message = f"span {span.start}:{span.end} does not hold {span.text!r}"
            raise AnswerFaultError(message, status="malformed")
    return [judgement]


def _inputs(context: Context) -> dict[str, Path]:
    paths = context.paths
    return run_inputs(context, paths.population, paths.sources, paths.answers)


def _settings(config: Config) -> dict[str, JsonValue]:
    return {"judges": judge_entries(config), "prompt": prompt_entries(config)["judges"]}


JUDGE = Stage(
    name="judge",
    manifest=lambda context: manifest_path(context.paths.judgements),
    inputs=_inputs,
    settings=_settings,
    execute=_execute,
    answer_part=_answer_part,
)
