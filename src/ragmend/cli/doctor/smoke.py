"""One small case that every role is asked about before anything expensive."""

from ragmend.errors import AnswerFaultError
from ragmend.io import shorten
from ragmend.judges.judging import Judge, judge_answer
from ragmend.records import Claim, Source
from ragmend.repair.arms import decides
from ragmend.repair.evidence import match_evidence
from ragmend.repair.verification import Rewriter, Verifier

_SUPPORTED = "The ferry to Skerry Island takes 55 minutes."
_UNSUPPORTED = "It was built in Norway in 1987."
ANSWER = f"{_SUPPORTED} {_UNSUPPORTED}"
SOURCE = Source(
    source_id="smoke",
    task_type="QA",
    text=(
        "passage 1:The ferry from Port Alder to Skerry Island takes 55 minutes. It carries cars "
        "and bicycles.\n\npassage 2:In winter the ferry sails four times a day."
    ),
    question="How long does the ferry to Skerry Island take?",
)


def _claim(text: str) -> Claim:
    start = ANSWER.index(text)
    return Claim(
        record_id="smoke",
        claim_id=f"smoke-{start}",
        text=text,
        start=start,
        end=start + len(text),
        kind="statement",
    )


CLAIMS = (_claim(_SUPPORTED), _claim(_UNSUPPORTED))


async def ask_verifier(verifier: Verifier, threshold: float) -> str:
    """Let both claims and an edited text be scored; return what came.

    Raises:
        AnswerFaultError: One got no usable answer, or none that decides at the threshold.
    """
    evidence = match_evidence(SOURCE, CLAIMS, top_k=3)
    verdicts = await verifier.verify(SOURCE, ANSWER, CLAIMS, evidence)
    for verdict in verdicts:
        if not decides(verdict, threshold):
            raise AnswerFaultError(
                f"P(support) is known to lie between {verdict.p_interval} only: the server tells "
                "its most probable tokens only, and the threshold lies between",
                status="undecided",
            )
    await verifier.score_texts(SOURCE, ANSWER, [_SUPPORTED])
    supported, unsupported = (verdict.p_support for verdict in verdicts)
    masses = [verdict.candidate_mass for verdict in verdicts if verdict.candidate_mass is not None]
    said = f"P(support) {supported:.3f} of a supported claim, {unsupported:.3f} of an unsupported"
    mass = f", at least {min(masses):.3g} on Yes and No" if masses else ""
    apart = "" if supported > unsupported else "; IT DOES NOT TELL THEM APART"
    return f"{said}{mass}{apart}"


async def ask_rewriter(rewriter: Rewriter) -> str:
    """Let the unsupported claim be rewritten; return what came.

    Raises:
        AnswerFaultError: No usable answer came.
    """
    claim = CLAIMS[1]
    evidence = match_evidence(SOURCE, [claim], top_k=3)
    rewrite = await rewriter.rewrite(SOURCE, ANSWER, claim, evidence)
    return (
        "nothing is supported" if rewrite.text is None else f"rewrites to {shorten(rewrite.text)}"
    )


async def ask_judge(judge: Judge, name: str) -> str:
    """Let the answer be judged; return what came.

    Raises:
        AnswerFaultError: No usable judgement came.
    """
    judgement = await judge_answer(
        judge, SOURCE, name=name, record_id="smoke", condition="original", answer=ANSWER
    )
    n_located, n_unlocated = len(judgement.spans), len(judgement.unlocated)
    return f"label {judgement.label}, {n_located} spans located, {n_unlocated} not"
