"""The train split is parted by source, by ids and seed alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmend.datasets.ragtruth import Dataset
from ragmend.detector.training.splitting import split_training
from ragmend.errors import DataError
from ragmend.records import GoldSpan, Response, Source
from ragmend.sections.models import ModelConfig
from ragmend.sections.training import DevelopmentConfig, TrainedModelConfig, TrainingConfig

GOLD = (GoldSpan(start=0, end=1, text="x", label_type="Evident Conflict"),)


def dataset(n_sources, n_answers=6, gold=lambda number: number % 2):
    responses = [
        Response(
            record_id=str(10 * source + n), source_id=f"s{source}", generator="g", text="xyz",
            gold_spans=GOLD if gold(n) else (), split="train",
        )
        for source in range(n_sources)
        for n in range(n_answers)
    ]  # fmt: skip
    sources = [Source(source_id=f"s{n}", task_type="Summary", text="t") for n in range(n_sources)]
    return Dataset(tuple(responses), {source.source_id: source for source in sources}, ())


def training(sources=2, seed=42, **more):
    model = TrainedModelConfig(model=ModelConfig(id="none/none"))
    development = DevelopmentConfig(sources=sources, seed=seed, limit=more.pop("held", None))
    return TrainingConfig(models={"m": model}, seeds=(1,), development=development, **more)


def ids(pairs):
    return [pair.response.record_id for pair in pairs]


@given(st.integers(2, 12), st.integers(0, 50), st.data())
def test_every_answer_is_on_one_side_with_all_of_its_source(n_sources, seed, data):
    held = data.draw(st.integers(1, n_sources - 1))
    split = split_training(dataset(n_sources), training(held, seed))
    sides = [{p.source.source_id for p in part} for part in (split.train, split.development)]
    assert not sides[0] & sides[1]
    assert len(sides[1]) == held
    assert len(split.train) + len(split.development) == 6 * n_sources
    assert set(ids(split.probe)) <= set(ids(split.development))


def test_the_papers_development_set_is_942_answers_to_157_sources():
    split = split_training(dataset(400), training(157))
    assert len(split.development) == 942
    assert len({pair.source.source_id for pair in split.development}) == 157


def test_the_order_of_the_data_changes_nothing():
    data = dataset(9)
    turned = data._replace(sources=dict(reversed(data.sources.items())))
    assert split_training(data, training()).hashes() == split_training(turned, training()).hashes()


def test_another_seed_draws_others():
    drawn = {
        split_training(dataset(30), training(3, seed)).hashes()["development_ids_sha256"]
        for seed in range(4)
    }
    assert len(drawn) == 4


def test_limits_keep_the_split_and_leave_answers_out():
    whole = split_training(dataset(9), training(3))
    part = split_training(dataset(9), training(3, limit=10, held=5, probe=2))
    assert (len(part.train), len(part.development), len(part.probe)) == (10, 5, 2)
    assert set(ids(part.train)) <= set(ids(whole.train))
    assert set(ids(part.development)) <= set(ids(whole.development))


@pytest.mark.parametrize(("gold", "found"), [(lambda n: 0, 0), (lambda n: 1, 42)])
def test_data_of_one_class_are_refused(gold, found):
    with pytest.raises(DataError, match=f"{found} of 42 training responses have a gold span"):
        split_training(dataset(9, gold=gold), training())


@pytest.mark.parametrize("seed", range(8))
def test_a_small_draw_has_both_classes_where_there_are_both(seed):
    data = dataset(9, gold=lambda n: n == 0)
    split = split_training(data, training(3, seed, limit=2, held=2, probe=2))
    for part in (split.train, split.development, split.probe):
        assert {bool(pair.response.gold_spans) for pair in part} == {True, False}


def test_development_answers_of_one_class_are_refused():
    with pytest.raises(DataError, match="of 1 development responses have a gold span"):
        split_training(dataset(9), training(3, held=1))


def test_data_without_annotation_are_refused_by_name():
    data = dataset(9)
    bare = data.responses[7].model_copy(update={"gold_spans": None})
    with pytest.raises(DataError, match="the first is '11'"):
        split_training(data._replace(responses=(*data.responses[:7], bare)), training())
