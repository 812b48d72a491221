"""Stage `detect`: a verdict on every response of the split."""

from pathlib import Path

from pydantic import JsonValue

from ragmend.cli.context import Context, Outcome, Stage, say
from ragmend.cli.data import data_inputs, data_settings, detector_run_id, read_data
from ragmend.config import Config
from ragmend.datasets.ragtruth import Dataset
from ragmend.detector.predictions import Imported, import_predictions
from ragmend.errors import ConfigError, MissingInputError
from ragmend.io import write_records
from ragmend.paths import manifest_path


def _execute(context: Context) -> Outcome:
    config = context.config
    if config.detector.kind == "trained":
        return _trained(config).execute(context)
    data = read_data(config)
    if config.data.kind != "demo":  # what the built-in data hold on purpose needs no notice
        for note in data.notes:
            say(f"{'data':9} {note}")
    imported = detect_responses(config, data)
    output = context.paths.detections(detector_run_id(config))
    write_records(output, imported.detections)
    verdicts = [detection.verdict for detection in imported.detections]
    counts: dict[str, JsonValue] = {"responses": len(data.responses), **imported.counts}
    counts |= {verdict: verdicts.count(verdict) for verdict in sorted(set(verdicts))}
    return Outcome((output,), counts, {"detector": detector_run_id(config)})


def detect_responses(config: Config, data: Dataset) -> Imported:
    """Return the verdict on every response of a detector that is not trained here.

    Raises:
        ConfigError: It is.
    """
    if config.detector.kind == "trained":
        raise ConfigError("detector.kind is 'trained': its verdicts are made by a stage of its own")
    return _import(config, data) if config.detector.kind == "predictions" else _detect(data)


def _import(config: Config, data: Dataset) -> Imported:
    detector = config.detector
    return import_predictions(
        _predictions(config),
        data.responses,
        system=detector.system,
        run_id=detector_run_id(config),
        unknown_records=detector.unknown_records,
        missing_records=detector.missing_records,
        left_out=data.left_out,
    )


def _trained(config: Config) -> Stage:
    """Return the stage of the trained detector that defines the population."""
    from ragmend.cli.training.plan import name_of
    from ragmend.cli.training.predicting import predict_stage

    return predict_stage(name_of(config, detector_run_id(config)))


def _check(context: Context) -> None:
    if context.config.detector.kind == "trained":
        _trained(context.config).check(context)


def _finish(context: Context) -> None:
    if context.config.detector.kind == "trained":
        _trained(context.config).finish(context)


def _detect(data: Dataset) -> Imported:
    from ragmend.detector.lexical import detect_response
    from ragmend.text.reading import read_source

    readings = {source_id: read_source(source) for source_id, source in data.sources.items()}
    detections = tuple(
        detect_response(readings[response.source_id], response, run_id="lexical")
        for response in data.responses
    )
    return Imported(detections, {})


def _predictions(config: Config) -> Path:
    path = Path(config.detector.predictions or "")
    if path.is_dir():
        raise MissingInputError(f"detector.predictions: {path}: is a directory, not a file")
    if not path.is_file():
        raise MissingInputError(f"detector.predictions: {path}: no such file")
    return path


def _inputs(context: Context) -> dict[str, Path]:
    if context.config.detector.kind == "trained":
        return _trained(context.config).inputs(context)
    inputs = data_inputs(context.config)
    if context.config.detector.kind == "predictions":
        path = _predictions(context.config)
        inputs[f"predictions:{path.name}"] = path
    return inputs


def _settings(config: Config) -> dict[str, JsonValue]:
    if config.detector.kind == "trained":
        return _trained(config).settings(config)
    detector = config.detector.model_dump(mode="json", exclude={"predictions"})
    return data_settings(config) | {f"detector.{name}": value for name, value in detector.items()}


DETECT = Stage(
    name="detect",
    manifest=lambda context: manifest_path(
        context.paths.detections(detector_run_id(context.config))
    ),
    inputs=_inputs,
    settings=_settings,
    execute=_execute,
    check=_check,
    finish=_finish,
    again=(
        "ragmend run … --redo detect` (of a trained detector: `ragmend detect predict … --again "
        '"reason"'
    ),
)
