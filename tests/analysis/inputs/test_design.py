"""Which conditions are compared, and how the name of a contrast is read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmend.analysis import Settings
from ragmend.analysis.inputs.design import label_design, parse_contrast
from ragmend.errors import StatisticsError
from ragmend.records import CONDITIONS

NAMES = st.lists(
    st.text(st.characters(codec="ascii", categories=["Ll"]), min_size=1), unique=True, max_size=6
)


def names(design, family):
    return [contrast.name for contrast in design.contrasts if contrast.family == family]


def test_the_papers_conditions_get_the_papers_family():
    design = label_design(reversed(CONDITIONS), Settings())
    assert design.conditions == CONDITIONS
    assert names(design, "primary") == [
        "original-removal",
        "original-extractive",
        "original-generative",
        "removal-extractive",
        "extractive-generative",
    ]
    assert names(design, "exploratory") == ["removal-generative"]


def test_other_conditions_are_each_compared_with_the_reference():
    design = label_design(["b", "base", "a"], Settings(reference="base"))
    assert design.conditions == ("base", "a", "b")
    assert names(design, "primary") == ["base-a", "base-b"]
    assert names(design, "exploratory") == ["a-b"]


def test_an_original_condition_is_the_reference_unasked():
    assert label_design(["z", "original"], Settings()).reference == "original"


def test_without_a_reference_nothing_is_compared():
    design = label_design(["x", "y"], Settings())
    assert (design.reference, design.contrasts) == (None, ())


def test_the_only_condition_is_the_reference():
    design = label_design(["response"], Settings())
    assert (design.reference, design.contrasts) == ("response", ())


def test_a_family_is_taken_as_given_and_the_rest_is_exploratory():
    design = label_design(CONDITIONS, Settings(family=("generative:removal",)))
    assert names(design, "primary") == ["generative-removal"]
    assert len(names(design, "exploratory")) == 5
    assert "removal-generative" not in names(design, "exploratory")


def test_conditions_that_are_expected_but_absent_stay_in_the_design():
    assert label_design(["a"], Settings(conditions=("a", "b"))).conditions == ("a", "b")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a-b", ("a", "b")),
        ("a:b", ("a", "b")),
        ("one-two-three", ("one-two", "three")),
        ("gpt-4:base", ("gpt-4", "base")),
    ],
)
def test_a_name_is_split_where_both_halves_are_known(name, expected):
    assert parse_contrast(name, ["a", "b", "one-two", "three", "gpt-4", "base"]) == expected


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("x-x-x", "can be read as 'x' against 'x-x' or 'x-x' against 'x'"),
        ("a-c", "expected CONDITION-CONDITION; known conditions: x, x-x, a"),
        ("a", "expected CONDITION-CONDITION"),
        ("", "expected CONDITION-CONDITION"),
        ("a-a", "compares a condition with itself"),
    ],
)
def test_a_name_that_is_no_contrast_or_two_is_refused(name, message):
    with pytest.raises(StatisticsError, match=message):
        parse_contrast(name, ["x", "x-x", "a"])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (Settings(reference="c"), "reference condition 'c' does not occur; there are a, b"),
        (Settings(family=("a-b", "b:a")), "contrast b-a is given more than once"),
        (Settings(family=("a-z",)), "expected CONDITION-CONDITION"),
    ],
)
def test_what_names_no_condition_is_refused(settings, message):
    with pytest.raises(StatisticsError, match=message):
        label_design(["a", "b"], settings)


def test_two_contrasts_of_one_name_are_refused():
    with pytest.raises(StatisticsError, match="'a-b-c' would name two contrasts, 'a' with 'b-c'"):
        label_design(["a", "a-b", "b-c", "c"], Settings(reference="a"))


@given(found=NAMES, reference=st.integers(0, 5))
def test_every_pair_stands_in_exactly_one_contrast(found, reference):
    if not found:
        return
    settings = Settings(reference=found[reference % len(found)])
    design = label_design(found, settings)
    pairs = [frozenset((c.a, c.b)) for c in design.contrasts]
    assert len(pairs) == len(set(pairs)) == len(found) * (len(found) - 1) // 2
    assert design == label_design(sorted(found), settings)
