"""Which request meets which fault: drawn from a seed, the same each time."""

from collections import defaultdict
from dataclasses import dataclass

from fake_model import unit

TRANSIENT = ("429", "500", "502", "503", "504", "reset", "closed", "timeout", "torn")
_FINAL = ("refused", "not_json", "no_choices")
FINAL_SCORED = (*_FINAL, "nan", "fewer", "minus_infinity", "null_logprob")
FINAL_GENERATED = (*_FINAL, "empty", "cut", "garbage", "null_text", "odd_finish")


@dataclass(frozen=True)
class Plan:
    """What goes wrong, and how often.

    Attributes:
        seed: Of all draws.
        transient_rate: The share of tries that meet a transient fault.
        transient: Kinds of these.
        longest_streak: So many transient faults of one request in a row, at most.
        spared: Paths that meet no transient fault.
        final_rate: The share of questions that meet a final fault, each time they are asked.
        final_scored: Kinds of these for questions that are scored.
        final_generated: Kinds of these for questions that are answered.
        final_from_chars: Shorter prompts meet no final fault, as those asked at opening.
        jitter: How far a log-probability is off, at most; another each time.
        latency_s: How long an answer takes.
        hang_s: How long a time-out takes; longer than the client waits.
        die_after: How many questions are answered before the server dies.
        dies_by: "closing": nobody listens any more; "health": everything is 503.
    """

    seed: int = 0
    transient_rate: float = 0.0
    transient: tuple[str, ...] = TRANSIENT
    longest_streak: int = 3
    spared: tuple[str, ...] = ("/health", "/metrics", "/version")
    final_rate: float = 0.0
    final_scored: tuple[str, ...] = FINAL_SCORED
    final_generated: tuple[str, ...] = FINAL_GENERATED
    final_from_chars: int = 100
    jitter: float = 0.0
    latency_s: float = 0.0
    hang_s: float = 30.0
    die_after: int | None = None
    dies_by: str = "closing"


class Draws:
    """Draws the faults of a plan; it remembers how often each request came."""

    def __init__(self, plan):
        self.plan = plan
        self._n_tries = defaultdict(int)
        self._streak = defaultdict(int)

    def transient(self, request):
        """Return the kind of transient fault that this try of a request meets, or None."""
        n_tries = self._n_tries[request] = self._n_tries[request] + 1
        drawn = unit(self.plan.seed, "transient", request, n_tries)
        if drawn >= self.plan.transient_rate or self._streak[request] >= self.plan.longest_streak:
            self._streak[request] = 0
            return None
        self._streak[request] += 1
        return _choose(self.plan.transient, self.plan.seed, "kind", request, n_tries)

    def final(self, prompt, *, is_scored):
        """Return the kind of final fault that a question always meets, or None."""
        kinds = self.plan.final_scored if is_scored else self.plan.final_generated
        drawn = unit(self.plan.seed, "final", prompt, is_scored)
        if len(prompt) < self.plan.final_from_chars or drawn >= self.plan.final_rate:
            return None
        return _choose(kinds, self.plan.seed, "final kind", prompt)

    def off_by(self, request, token):
        """Return how far a log-probability is off this time."""
        if not self.plan.jitter:
            return 0.0
        drawn = unit(self.plan.seed, "jitter", request, self._n_tries[request], token)
        return self.plan.jitter * (2 * drawn - 1)


def _choose(kinds, *parts):
    return kinds[int(unit(*parts) * len(kinds))]
