"""How fast answers are split and matched, and whether time grows with size alone."""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import cycle

from bench.corpus import Corpus, SourceClaims, split_all
from bench.figures import Figure, cpu_seconds
from ragmend.records import Claim
from ragmend.repair.arms import Decision
from ragmend.repair.assembling.assembly import assemble
from ragmend.repair.evidence import match_evidence
from ragmend.repair.splitting.claims import split_claims
from ragmend.text.fragments import source_fragments

TOP_K = 3
MEGABYTE = 1_000_000
SIZES_MB = (0.25, 0.5, 1.0)
N_FITTED_CLAIMS = 300  # about so many: the baseline is slow; its rate shows on a part
REPEATS = 3  # of everything that is compared, ours and the baselines
LINEAR = 1.5  # time for one unit at full size over that at a quarter


def claim_figures(corpus: Corpus) -> Iterator[Figure]:
    """Measure splitting and matching of the answers, and how the time grows."""
    _split_and_match(corpus.every(50))  # what is loaded and compiled once
    n_claims, seconds_a_claim = 0, {}
    for step in (4, 2, 1):
        part = corpus.every(step)
        n_claims = sum(len(found.claims) for found in split_all(part))
        seconds = cpu_seconds(partial(_split_and_match, part), repeats=REPEATS)
        seconds_a_claim[step] = seconds / n_claims
        limit = 2000.0 if step == 1 else None
        what = f"split and match, {n_claims:,} claims of {len(part.responses):,} answers"
        yield Figure(what, n_claims / seconds, "claims/s", "at least", limit)
    what = "split and match, time a claim: all answers to a quarter of them"
    yield Figure(what, seconds_a_claim[1] / seconds_a_claim[4], "x", "at most", LINEAR)
    some = corpus.every(max(1, n_claims // N_FITTED_CLAIMS))
    yield from _matching_figures(split_all(some))


def long_text_figures(corpus: Corpus) -> Iterator[Figure]:
    """Measure splitter and assembly on one long answer each of growing size."""
    for what, work in (("splitter", _split_seconds), ("assembly", _assembly_seconds)):
        seconds = {size: work(_long_text(corpus, size)) for size in SIZES_MB}
        for size in SIZES_MB:
            yield Figure(f"{what}, one answer of {size:g} MB", size / seconds[size], "MB/s")
        small, large = SIZES_MB[0], SIZES_MB[-1]
        growth = (seconds[large] / large) / (seconds[small] / small)
        yield Figure(
            f"{what}, time a MB: {large:g} MB to {small:g} MB", growth, "x", "at most", LINEAR
        )


def _matching_figures(sources: Sequence[SourceClaims]) -> Iterator[Figure]:
    at_once = cpu_seconds(lambda: _match_all(sources), repeats=REPEATS)
    apart = _apart(sources)
    one_by_one = cpu_seconds(lambda: _match_all(apart), repeats=REPEATS)
    fitted = cpu_seconds(lambda: _fit_for_each_claim(sources), repeats=REPEATS)
    n_claims = sum(len(of_source.claims) for of_source in sources)
    what = f"match against TfidfVectorizer.fit for each claim, {n_claims:,} claims"
    yield Figure(what, fitted / at_once, "x faster", "at least", 5)
    what = f"match all claims of a source at once against one by one, {n_claims:,} claims"
    yield Figure(what, one_by_one / at_once, "x faster", "at least", 1)


def _split_and_match(corpus: Corpus) -> None:
    _match_all(split_all(corpus))


def _match_all(sources: Sequence[SourceClaims]) -> None:
    for source, claims in sources:
        match_evidence(source, claims, top_k=TOP_K)


def _apart(sources: Sequence[SourceClaims]) -> list[SourceClaims]:
    return [SourceClaims(source, [claim]) for source, claims in sources for claim in claims]


def _fit_for_each_claim(sources: Sequence[SourceClaims]) -> None:
    """Do what is simple and slow: fit a vectorizer for each claim."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    for source, claims in sources:
        fragments = [fragment.text for fragment in source_fragments(source)]
        for claim in claims:
            vectorizer = TfidfVectorizer().fit(fragments)
            scores = vectorizer.transform(fragments) @ vectorizer.transform([claim.text]).T
            sorted(scores.toarray().ravel(), reverse=True)[:TOP_K]


def _long_text(corpus: Corpus, megabytes: float) -> str:
    n_chars = int(megabytes * MEGABYTE)
    pieces: list[str] = []
    length = 0
    for response in cycle(corpus.responses):
        pieces.append(response.text)
        length += len(response.text) + 2
        if length >= n_chars:
            return "\n\n".join(pieces)[:n_chars]
    raise AssertionError("a corpus has answers")


def _split_seconds(text: str) -> float:
    return cpu_seconds(lambda: split_claims(text, record_id="long"), repeats=REPEATS)


def _assembly_seconds(text: str) -> float:
    claims = split_claims(text, record_id="long")
    decisions = [_decision(n, claim) for n, claim in enumerate(claims)]
    return cpu_seconds(lambda: assemble(text, claims, decisions, arm="extractive"), repeats=REPEATS)


def _decision(n: int, claim: Claim) -> Decision:
    """Keep every second claim; of the others drop one and replace one, in turn."""
    if n % 2 == 0:
        return Decision("keep", claim.text)
    return Decision("drop", "") if n % 4 == 1 else Decision("substitute", "The source says so.")
