"""Stage `select`: the answers that one named run flagged become the frozen population."""

from pathlib import Path

from pydantic import JsonValue

from ragmend.cli.context import Context, Outcome, Stage, run_inputs
from ragmend.cli.data import data_inputs, data_settings, detector_run_id, read_data
from ragmend.cli.protocol import write_lock
from ragmend.config import Config
from ragmend.detector.scores import score_detections
from ragmend.detector.selection import select_flagged
from ragmend.errors import ConfigError, DataError, RunStateError
from ragmend.io import read_record, read_records, write_records
from ragmend.paths import manifest_path
from ragmend.records import Detection
from ragmend.trained import UNREAD_LIMIT, HealthReport


def _execute(context: Context) -> Outcome:
    config, paths = context.config, context.paths
    _refuse_unusable(context)
    data = read_data(config)
    detections = list(read_records(paths.detections(_population_run(config)), Detection))
    selected = select_flagged(data.responses, data.sources, detections)
    flagged = {row.record_id for row in selected if row.flagged}
    # An answer without text has nothing to repair and no length to compare with.
    with_text = [r for r in data.responses if r.record_id in flagged and r.text.strip()]
    population = with_text[: config.population.limit]
    if not population:
        raise DataError(
            f"the population is empty: run {_population_run(config)!r} flagged {len(flagged)} of "
            f"{len(selected)} responses, of which {len(with_text)} have text to repair"
        )
    used = {response.source_id for response in population}
    scores = score_detections(data.responses, data.sources, detections)
    write_records(paths.selection, selected)
    write_records(paths.detector_scores, scores)
    write_records(paths.population, population)
    write_records(paths.sources, (data.sources[source_id] for source_id in sorted(used)))
    write_lock(context)
    counts: dict[str, JsonValue] = {
        "responses": len(selected),
        "flagged": len(flagged),
        "flagged_without_text": len(flagged) - len(with_text),
        "population": len(population),
        "sources": len(used),
        "left_out_development": len(data.left_out),
    }
    return Outcome(
        (paths.selection, paths.detector_scores, paths.population, paths.sources), counts
    )


def _refuse_unusable(context: Context) -> None:
    """Refuse a trained detector that is not healthy: what it flags says little of answers.

    Raises:
        RunStateError: Its training is degraded or failed, or too many of its answers on the split
            give no verdict.
    """
    if context.config.detector.kind != "trained":
        return
    health = read_record(
        context.paths.training(_population_run(context.config)).health, HealthReport
    )
    if health.verdict != "usable":
        raise RunStateError(
            f"{health.run_id} is {health.verdict} and may not define a population: "
            f"{'; '.join(health.reasons)}. Choose another by population.run"
        )
    detections = list(read_records(context.paths.detections(health.run_id), Detection))
    n_unread = sum(each.verdict in ("empty", "unparsed") for each in detections)
    if n_unread > UNREAD_LIMIT * len(detections):
        raise RunStateError(
            f"{health.run_id} gave no verdict on {n_unread} of {len(detections)} responses, more "
            f"than {100 * UNREAD_LIMIT:g} %, and may not define a population. Choose another by "
            "population.run, or find out why (`ragmend detect diagnose`)"
        )


def _population_run(config: Config) -> str:
    run = config.population.run or detector_run_id(config)
    if run != detector_run_id(config):
        raise ConfigError(
            f"population.run is {run!r}, but the only detector run is {detector_run_id(config)!r}"
        )
    return run


def _inputs(context: Context) -> dict[str, Path]:
    run = _population_run(context.config)
    files = [context.paths.detections(run)]
    if context.config.detector.kind == "trained":
        files.append(context.paths.training(run).health)
    return data_inputs(context.config) | run_inputs(context, *files)


def _settings(config: Config) -> dict[str, JsonValue]:
    return data_settings(config) | {
        "population.run": _population_run(config),
        "population.limit": config.population.limit,
    }


SELECT = Stage(
    name="select",
    manifest=lambda context: manifest_path(context.paths.population),
    inputs=_inputs,
    settings=_settings,
    execute=_execute,
)
