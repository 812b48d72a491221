"""Stage `propose`: candidates for unsupported claims, gated and verified again (pass 2)."""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import NamedTuple

from pydantic import JsonValue

from ragmend.cli.asking import Answers, Asking, Unit, asking
from ragmend.cli.context import Context, Outcome, PartOutcome, Stage, run_inputs
from ragmend.cli.data import Population, by_source, own_records, read_population
from ragmend.cli.event_loop import run_to_end
from ragmend.cli.faults import faults_inputs, faulty_records
from ragmend.cli.roles.identities import prompt_entries, rewriter_entry, verifier_entry
from ragmend.cli.roles.parts import Handle, open_rewriter, open_verifier
from ragmend.cli.sharding.journals import journals_of
from ragmend.cli.shortened import list_shortened, shortened_of
from ragmend.config import Config
from ragmend.errors import AnswerFaultError
from ragmend.io import write_records
from ragmend.llm.gathering import gather_answers
from ragmend.manifest import read_manifest
from ragmend.paths import manifest_path
from ragmend.records import (
    Candidate,
    Claim,
    Evidence,
    Response,
    Rewrite,
    Source,
    Verdict,
    by_record,
)
from ragmend.repair.arms import decides, is_eligible
from ragmend.repair.candidates import Acceptance, propose_candidates
from ragmend.repair.verification import Rewriter, Verifier


class Case(NamedTuple):
    """One answer with what earlier stages recorded about it."""

    response: Response
    source: Source
    claims: list[Claim]
    evidence: list[Evidence]
    eligible: frozenset[str]
    undecided: tuple[Verdict, ...]

    def request(self) -> dict[str, JsonValue]:
        """Return all of it that candidates depend on, for the journal's key."""
        return {
            "source": self.source.model_dump(mode="json"),
            "answer": self.response.text,
            "claims": [claim.model_dump(mode="json") for claim in self.claims],
            "evidence": [row.model_dump(mode="json") for row in self.evidence],
            "eligible": [c.claim_id for c in self.claims if c.claim_id in self.eligible],
            "undecided": [verdict.claim_id for verdict in self.undecided],
        }


class Proposed(NamedTuple):
    """What both passes came to, and who answered in them."""

    rewrites: Answers[Rewrite]
    candidates: Answers[Candidate]
    rewriter: Handle[Rewriter]
    verifier: Handle[Verifier]


def _execute(context: Context) -> Outcome:
    paths = context.paths
    cases = list(_cases(context, read_population(paths)))
    with _asking(context) as stage:
        proposed = run_to_end(partial(_propose, context, stage, cases))
    write_records(paths.rewrites, proposed.rewrites.records)
    write_records(paths.candidates, proposed.candidates.records)
    rewrites = proposed.rewrites.records
    asked: list[Rewrite | Candidate] = [*rewrites, *proposed.candidates.records]
    shortened = list_shortened(paths.candidates.parent, map(shortened_of, asked))
    rewriter, verifier = proposed.rewriter, proposed.verifier
    counts: dict[str, JsonValue] = {
        "eligible": sum(len(case.eligible) for case in cases),
        "rewriter_asked": len(rewrites),
        "nothing_supported": sum(rewrite.text is None for rewrite in rewrites),
        **_count(proposed.candidates.records),
        **shortened.counts,
    }
    return Outcome(
        (paths.rewrites, paths.candidates, *shortened.files),
        counts,
        {"verifier": verifier.part.name, "rewriter": rewriter.part.name},
        n_units=len(cases),
        faults=(*proposed.rewrites.faults, *proposed.candidates.faults),
        servers=rewriter.facts("rewriter") | verifier.facts("verifier"),
        service=rewriter.usage("rewriter") | verifier.usage("verifier"),
    )


def _answer_part(context: Context, stage: Asking) -> PartOutcome:
    cases = list(_cases(context, read_population(context.paths, context.part)))
    if context.part is not None and context.part.role == "rewriter":
        rewrites, rewriter = run_to_end(partial(_rewrite_all, context, stage, cases))
        return _part_outcome(len(cases), rewrites, rewriter, "rewriter")
    before = context._replace(part=None)  # what the rewriter's part of these cases came to
    with _asking(before) as recorded:
        rewrites, _ = run_to_end(partial(_rewrite_all, before, recorded, cases))
    left = _without_faulty(cases, rewrites)
    candidates, verifier = run_to_end(partial(_verify_edits, context, stage, left, rewrites))
    return _part_outcome(len(left), candidates, verifier, "verifier")


def _part_outcome(
    n_units: int,
    answers: Answers[Rewrite] | Answers[Candidate],
    handle: Handle[Rewriter] | Handle[Verifier],
    role: str,
) -> PartOutcome:
    return PartOutcome(
        n_units,
        tuple(answers.faulty),
        {role: handle.part.name},
        handle.facts(role),
        handle.usage(role),
    )


def _asking(context: Context) -> AbstractContextManager[Asking]:
    folder = context.paths.candidates.parent
    return asking(
        "propose",
        folder,
        context.config.client,
        journals=journals_of(context, folder),
        settled=None if context.fold is None else context.fold.faults(),
    )


async def _propose(context: Context, stage: Asking, cases: list[Case]) -> Proposed:
    """Ask the rewriter about all answers, then the verifier: one model at a time is in use."""
    rewrites, rewriter = await _rewrite_all(context, stage, cases)
    left = _without_faulty(cases, rewrites)
    candidates, verifier = await _verify_edits(context, stage, left, rewrites)
    return Proposed(rewrites, candidates, rewriter, verifier)


async def _rewrite_all(
    context: Context, stage: Asking, cases: list[Case]
) -> tuple[Answers[Rewrite], Handle[Rewriter]]:
    async with open_rewriter(context, context.paths.candidates.parent) as rewriter:
        rewrites = await stage.answer(
            _rewriting(cases, rewriter.part, context.config),
            model=Rewrite,
            n_units=len(cases),
            prepare=rewriter.open,
            describe=rewriter.describe,
        )
    return rewrites, rewriter


def _without_faulty(cases: list[Case], rewrites: Answers[Rewrite]) -> list[Case]:
    faulty = {fault.record_id for fault in rewrites.faults}
    return [case for case in cases if case.response.record_id not in faulty]


def _facts_of_pass_1(context: Context) -> JsonValue:
    """Return what the verifier said of itself in pass 1, with whose verdicts edits must compare."""
    manifest = read_manifest(manifest_path(context.paths.verdicts))
    return None if manifest is None else manifest.servers.get("verifier")


async def _verify_edits(
    context: Context, stage: Asking, cases: list[Case], rewrites: Answers[Rewrite]
) -> tuple[Answers[Candidate], Handle[Verifier]]:
    async with open_verifier(context, context.paths.candidates.parent) as opened:
        verifier = opened.held_to(_facts_of_pass_1(context))
        candidates = await stage.answer(
            _accepting(cases, by_record(rewrites.records), verifier.part, context.config),
            model=Candidate,
            n_units=len(cases),
            prepare=verifier.open,
            describe=verifier.describe,
        )
    return candidates, verifier


def _cases(context: Context, population: Population) -> Iterator[Case]:
    paths, threshold = context.paths, context.config.verifier.threshold
    excluded = faulty_records(paths.verdicts.parent)
    claims = by_record(own_records(context, population, paths.claims, Claim))
    evidence = by_record(own_records(context, population, paths.evidence, Evidence))
    verdicts = list(own_records(context, population, paths.verdicts, Verdict))
    undecided = {
        verdict.claim_id: verdict for verdict in verdicts if not decides(verdict, threshold)
    }
    eligible = {verdict.claim_id for verdict in verdicts if is_eligible(verdict, threshold)}
    for response in by_source(population.responses, lambda response: response.source_id):
        if response.record_id not in excluded:
            own = claims.get(response.record_id, [])
            yield Case(
                response,
                population.source_of(response),
                own,
                evidence.get(response.record_id, []),
                frozenset(claim.claim_id for claim in own if claim.claim_id in eligible),
                tuple(undecided[c.claim_id] for c in own if c.claim_id in undecided),
            )


def _rewriting(cases: list[Case], rewriter: Rewriter, config: Config) -> Iterator[Unit[Rewrite]]:
    identity: dict[str, JsonValue] = {
        "rewriter": rewriter_entry(config),
        "prompt": prompt_entries(config)["rewriter"],
    }
    for case in cases:
        yield Unit(
            case.response.record_id,
            case.response.source_id,
            {**identity, **case.request()},
            partial(_rewrite, case, rewriter),
        )


async def _rewrite(case: Case, rewriter: Rewriter) -> list[Rewrite]:
    """Rewrite an answer's eligible claims; which these are must be known of all of them."""
    for verdict in case.undecided:
        raise AnswerFaultError(
            f"P(support) is known to lie between {verdict.p_interval} only",
            status="undecided",
            claim_id=verdict.claim_id,
        )
    return await gather_answers(
        rewriter.rewrite(
            case.source,
            case.response.text,
            claim,
            [row for row in case.evidence if row.claim_id == claim.claim_id],
        )
        for claim in case.claims
        if claim.claim_id in case.eligible
    )


def _accepting(
    cases: list[Case],
    rewrites: Mapping[str, list[Rewrite]],
    verifier: Verifier,
    config: Config,
) -> Iterator[Unit[Candidate]]:
    identity = _settings(config)
    acceptance = Acceptance(verifier, config.verifier.threshold, config.verifier.verify_edit)
    for case in cases:
        own = rewrites.get(case.response.record_id, [])
        request: dict[str, JsonValue] = {
            "settings": dict(identity),
            "rewrites": [rewrite.model_dump(mode="json") for rewrite in own],
            **case.request(),
        }
        compute = partial(
            propose_candidates,
            case.source,
            case.response.text,
            case.claims,
            evidence=case.evidence,
            eligible=case.eligible,
            rewrites=own,
            acceptance=acceptance,
        )
        yield Unit(case.response.record_id, case.response.source_id, request, compute)


def _count(candidates: list[Candidate]) -> dict[str, JsonValue]:
    counts: dict[str, JsonValue] = {}
    for kind in ("extract", "rewrite"):
        of_kind = [candidate for candidate in candidates if candidate.kind == kind]
        counts[f"{kind}_proposed"] = len(of_kind)
        counts[f"{kind}_accepted"] = sum(candidate.accepted for candidate in of_kind)
    return counts


def _inputs(context: Context) -> dict[str, Path]:
    paths = context.paths
    files = (paths.population, paths.sources, paths.claims, paths.evidence, paths.verdicts)
    return run_inputs(context, *files) | faults_inputs(context, paths.verdicts.parent)


def _settings(config: Config) -> dict[str, JsonValue]:
    prompts = prompt_entries(config)
    return {
        "verifier": verifier_entry(config),
        "rewriter": rewriter_entry(config),
        "prompts": {role: prompts[role] for role in ("verifier", "rewriter")},
        "verifier.threshold": config.verifier.threshold,
        "verifier.verify_edit": config.verifier.verify_edit,
    }


PROPOSE = Stage(
    name="propose",
    manifest=lambda context: manifest_path(context.paths.candidates),
    inputs=_inputs,
    settings=_settings,
    execute=_execute,
    answer_part=_answer_part,
)
