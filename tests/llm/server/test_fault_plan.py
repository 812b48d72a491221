"""The faults of a plan are as many as it says, of every kind, and the same each time."""

from itertools import groupby

from fault_plan import FINAL_SCORED, TRANSIENT, Draws, Plan

PLAN = Plan(seed=5, transient_rate=0.3, final_rate=0.3, longest_streak=2)


def test_transient_faults_are_drawn_for_each_try_and_pass():
    draws = Draws(PLAN)
    drawn = [[draws.transient(n) for _ in range(10)] for n in range(500)]
    again = Draws(PLAN)
    assert [[again.transient(n) for _ in range(10)] for n in range(500)] == drawn
    faults = [kind for tries in drawn for kind in tries if kind]
    assert set(faults) == set(TRANSIENT)
    assert 0.25 < len(faults) / 5000 <= 0.3
    streaks = [len(list(run)) for tries in drawn for failed, run in groupby(tries, bool) if failed]
    assert max(streaks) == 2


def test_final_faults_are_drawn_for_each_question_and_stay():
    draws = Draws(PLAN)
    prompts = [f"{n} ".rjust(200) for n in range(1000)]
    drawn = [draws.final(prompt, is_scored=True) for prompt in prompts]
    assert [draws.final(prompt, is_scored=True) for prompt in prompts] == drawn
    assert {kind for kind in drawn if kind} == set(FINAL_SCORED)
    assert 0.25 < sum(kind is not None for kind in drawn) / 1000 < 0.35
    assert draws.final("Is water wet?", is_scored=True) is None
