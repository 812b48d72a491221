"""One real question to a server that is up: can it do what its role needs?"""

from typing import NamedTuple

from ragmend.errors import AnswerFaultError, ServerError
from ragmend.llm.labels import LABEL_FORMS, read_support
from ragmend.llm.protocol import LabelScores, Sampling
from ragmend.llm.server.opening import open_server
from ragmend.llm.server.probing import PROBE
from ragmend.sections.models import ClientConfig
from ragmend.sections.roles import RoleConfig, VerifierConfig

N_TOKENS = 16


class SelfTest(NamedTuple):
    """What a server said.

    Attributes:
        version: Its own; None where it tells none.
        context_length: In tokens.
        answer: What it answered, as a person reads it.
    """

    version: str | None
    context_length: int
    answer: str


async def ask_once(base_url: str, role: RoleConfig, client: ClientConfig) -> SelfTest:
    """Ask a server one question of the kind that its role asks.

    A verifier's server is asked for the log-probabilities of Yes and No, any other for a text.

    Args:
        base_url: Where it is.
        role: What it is for.
        client: How it is asked.

    Raises:
        ServerError: It is not the configured one, or cannot answer.
    """
    forms = LABEL_FORMS if isinstance(role, VerifierConfig) else ()
    async with open_server(base_url, role.language_model, client, label_forms=forms) as opened:
        try:
            if isinstance(role, VerifierConfig):
                answer = _read_scores(await opened.score_labels(PROBE), role)
            else:
                text = (await opened.generate(PROBE, Sampling(max_tokens=N_TOKENS))).text
                answer = _shown(text)
        except AnswerFaultError as fault:
            raise ServerError(
                f"{base_url}: self-test failed, {role.language_model.id}: {fault}"
            ) from fault
        version = opened.facts["version"]
        return SelfTest(None if version is None else str(version), opened.context_length, answer)


def _read_scores(scores: LabelScores, role: VerifierConfig) -> str:
    # This question is not the role's own, so too little mass is said and no refusal.
    support = read_support(scores, role.scoring, min_mass=0.0)
    mass = support.mass or 0.0
    low = f", under the floor of {role.min_candidate_mass:g}" * (mass < role.min_candidate_mass)
    within = "" if support.interval is None else " (of the 20 most probable tokens only)"
    return f"P(Yes) {support.p:.4f}, candidate mass {mass:.4f}{low}{within}"


def _shown(text: str) -> str:
    if not text:
        raise AnswerFaultError("an empty answer to a short question", status="empty")
    return f"answered {text!r}"
