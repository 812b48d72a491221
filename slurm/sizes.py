"""How much there is to do: counts of an experiment's answers, claims and tokens.

Nothing here is of this experiment's own results: until a stage has run, nobody knows how many
answers a detector flags. The counts are those of the data, where they are known.
"""

from typing import NamedTuple


class Sizes(NamedTuple):
    """What the work of every job follows from; tokens are means, by Llama-2's tokenizer.

    Attributes:
        train: Answers of the train split.
        test: Answers that each detector is asked about.
        population: Answers under repair.
        answers_a_source: Answers under repair about one source.
        claims_an_answer: Claims of an answer under repair.
        unsupported: The share of claims that pass 1 does not support.
        edits_a_claim: Edited texts that pass 2 is asked about, of each unsupported claim.
        conditions: Texts of an answer that are judged: the original and one an arm.
        train_source: Tokens of a source, over all answers of the train split.
        train_answer: Tokens of an answer there.
        train_verdict: Tokens of a detector's verdict there, as JSON.
        source: Tokens of a source of answers under repair.
        answer: Tokens of an answer under repair.
        claim: Tokens of a claim.
        verdict: Tokens of what a judge or a detector says about such an answer.
        rewrite: Tokens of a rewrite, as JSON.
        fragments: Tokens of the fragments that the rewriter sees.
        instructions: Tokens of a prompt's own words.
        detector_instructions: Tokens of the detector's own.
    """

    train: int
    test: int
    population: int
    answers_a_source: float
    claims_an_answer: float
    unsupported: float
    edits_a_claim: float
    conditions: int
    train_source: float
    train_answer: float
    train_verdict: float
    source: float
    answer: float
    claim: float
    verdict: float
    rewrite: float
    fragments: float
    instructions: float
    detector_instructions: float

    @property
    def n_sources(self) -> int:
        """Sources of the answers under repair, at least one."""
        return max(1, round(self.population / self.answers_a_source))

    @property
    def n_claims(self) -> float:
        """Claims of all answers under repair."""
        return self.population * self.claims_an_answer

    @property
    def n_unsupported(self) -> float:
        """Claims that the rewriter is asked about."""
        return self.n_claims * self.unsupported

    @property
    def n_judged(self) -> int:
        """Texts that one judge is asked about; empty ones, which nobody is, are among them."""
        return self.population * self.conditions


ANSWERS_A_TRAIN_SOURCE = 6
"""RAGTruth has six generators' answers to each source."""
# Counts of the official splits, and of those whose gold labels say that they are hallucinated;
# tokens and claims of the 2,214 test and 3,570 train answers at hand, weighted by the official
# number of answers to each task. The share of unsupported claims, and the edits of each, are what
# the embedded verifier and rewriter came to on 601 answers (1,682 of 5,294 claims; 1,603 fragments
# and, of a model that rewrites every claim, as many rewrites): a model may say otherwise.
RAGTRUTH = Sizes(
    train=15_090, test=2_700, population=943,
    answers_a_source=2.4, claims_an_answer=8.4, unsupported=0.32, edits_a_claim=1.95, conditions=4,
    train_source=702, train_answer=202, train_verdict=30,
    source=823, answer=215, claim=25, verdict=40, rewrite=35, fragments=110, instructions=250,
    detector_instructions=130,
)  # fmt: skip
DEMO = RAGTRUTH._replace(train=0, test=48, population=19, source=200, answer=90)
"""The built-in data: 12 sources, 48 answers, of which the embedded detector flags 19."""


def scale_population(sizes: Sizes, n_answers: int) -> Sizes:
    """Return sizes of so many answers, all of which are flagged: the most that there is to do."""
    return sizes._replace(test=n_answers, population=n_answers)
