"""A server with vLLM's interface on a socket of its own, and with every fault it can have.

It answers as vLLM 0.32 does, field by field; what it says follows from the prompt. A plan says
which requests meet which fault. It runs in a thread; see `FaultServer`.
"""

import asyncio
import json
import threading
import time
from collections import Counter, deque
from contextlib import suppress
from dataclasses import dataclass

from fake_http import Response, as_error, as_json, read_request, reset
from fake_model import (
    FakeModel,
    PrefixCache,
    Tokenizer,
    answer_by_hash,
    source_of,
    support_by_hash,
)
from fault_plan import FINAL_GENERATED, FINAL_SCORED, TRANSIENT, Draws, Plan

__all__ = ["FINAL_GENERATED", "FINAL_SCORED", "TRANSIENT", "FaultServer", "Plan", "Traits"]

N_RECENT = 256
RETRY_AFTER = "0"
MINUS_INFINITY = -9999.0


@dataclass(frozen=True)
class Traits:
    """What kind of server it is.

    Attributes:
        model: The name of its model.
        max_model_len: Its context in tokens.
        tells_context: Whether its list of models says so.
        version: What `/version` says; None: it has no such thing.
        tokenizes: Whether it has `/tokenize`.
        logprobs: "token-ids": any that are asked for; "top-20": the most probable only;
            "none": no log-probabilities.
        names_tokens_by_id: Whether it does as `return_tokens_as_token_ids` says.
        takes_system: Whether its chat template has a system turn.
        drops_system: Whether its chat template leaves the system turn out and says nothing.
        default_system: What its chat template puts in place of a system turn that is not there.
        api_key: What it wants.
        has_health: Whether it has `/health`.
        has_metrics: Whether it has `/metrics`.
        n_cached_sources: How many sources its prefix cache holds.
    """

    model: str = "tiny"
    max_model_len: int = 4096
    tells_context: bool = True
    version: str | None = "0.32.0"
    tokenizes: bool = True
    logprobs: str = "token-ids"
    names_tokens_by_id: bool = True
    takes_system: bool = True
    drops_system: bool = False
    default_system: str | None = None
    api_key: str | None = None
    has_health: bool = True
    has_metrics: bool = True
    n_cached_sources: int = 3


class FaultServer:
    """A server for a `with` block; `url` is its address.

    Attributes:
        url: Its base URL.
        injected: How often each kind of fault was met.
        n_requests: How many requests came, by path.
        max_in_flight: The most questions that were in work at once.
        max_live_sources: The most sources that questions in work at once were about.
        recent: The last questions: path and body.
        model: What it says without faults.
        cache: What its prefix cache saw.
        instead: Called with path and request; the response that it returns goes out, if any.
    """

    def __init__(
        self,
        plan=None,
        traits=None,
        *,
        answer=answer_by_hash,
        support=support_by_hash,
        mass=0.9,
        port=0,
    ):
        self.traits = traits or Traits()
        self.model = FakeModel(Tokenizer(), mass, support, answer)
        self.cache = PrefixCache(self.traits.n_cached_sources)
        self.injected = Counter()
        self.n_requests = Counter()
        self.max_in_flight = 0
        self.max_live_sources = 0
        self.recent = deque(maxlen=N_RECENT)
        self.is_dead = False
        self.instead = lambda _path, _request: None
        self._n_answered = 0
        self._live = Counter()
        self._port = port
        self.inject(plan or Plan())

    def inject(self, plan):
        """Let a plan begin; what it counts, it counts from here on."""
        self.draws = Draws(plan)
        self._n_answered = 0

    def faults_off(self):
        """Answer everything from now on, also what always met a fault; no dead socket revives."""
        self.is_dead = False
        self.inject(Plan())

    @property
    def plan(self):
        return self.draws.plan

    @property
    def url(self):
        return f"http://127.0.0.1:{self._port}/v1"

    def __enter__(self):
        started = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve(started)))
        self._thread.start()
        started.wait()
        return self

    def __exit__(self, *_):
        self._loop.call_soon_threadsafe(self._ended.set)
        self._thread.join()

    async def _serve(self, started):
        self._loop, self._ended = asyncio.get_running_loop(), asyncio.Event()
        self._connections = set()
        self._listener = await asyncio.start_server(self._connect, "127.0.0.1", self._port)
        self._port = self._listener.sockets[0].getsockname()[1]
        started.set()
        await self._ended.wait()
        self._listener.close()
        # Who was accepted just now has a task that has not begun; cancelled, it closes nothing.
        await asyncio.sleep(0.01)
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _connect(self, reader, writer):
        self._connections.add(task := asyncio.current_task())
        try:
            with suppress(asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
                while await self._serve_one(reader, writer):
                    pass
        finally:
            self._connections.discard(task)
            writer.close()

    async def _serve_one(self, reader, writer):
        """Serve a request; tell whether the connection goes on."""
        request = await read_request(reader)
        path = request.path.removeprefix("/v1")
        self.n_requests[path] += 1
        if self.is_dead:
            if self.plan.dies_by == "closing":
                return False
            writer.write(as_error(503, "EngineDeadError", "ServiceUnavailable").to_bytes())
            return True
        kind = None
        if path not in self.plan.spared:
            kind = self.draws.transient((path, request.body))
        if kind is not None:
            self.injected[kind] += 1
            return await self._fail(kind, request, reader, writer)
        answer = self.instead(path, request) or await self._answer(path, request)
        writer.write(answer.to_bytes())
        await writer.drain()
        return True

    async def _fail(self, kind, request, reader, writer):
        if kind.isdigit():
            writer.write(_failure(int(kind)).to_bytes())
            return True
        if kind == "timeout":  # until the client has had enough
            with suppress(TimeoutError):
                await asyncio.wait_for(reader.read(1), self.plan.hang_s)
        elif kind == "reset":
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{")
            await writer.drain()
            reset(writer)
        elif kind == "torn":
            body = (await self._answer(request.path.removeprefix("/v1"), request)).body
            writer.write(Response(200, body[: len(body) // 2]).to_bytes())
            return True
        return False

    async def _answer(self, path, request):
        traits = self.traits
        if path == "/health" and traits.has_health:
            return Response(200)
        if path == "/metrics" and traits.has_metrics:
            return Response(200, self._metrics().encode(), "text/plain; version=0.0.4")
        if path == "/version" and traits.version:
            return as_json({"version": traits.version})
        is_versioned = request.path.startswith("/v1/")
        if is_versioned and not self._has_key(request):
            return as_json({"error": "Unauthorized"}, 401)
        if path == "/models" and is_versioned:
            return as_json({"object": "list", "data": [self._card()]})
        known = {"/chat/completions": self._ask, "/completions": self._ask}
        if traits.tokenizes:
            known["/tokenize"] = self._tokenize
        if request.method != "POST" or path not in known:
            return as_json({"detail": "Not Found"}, 404)
        body = json.loads(request.body)
        if body["model"] != traits.model:
            message = f"The model `{body['model']}` does not exist."
            return as_error(404, message, "NotFoundError", "model")
        return await known[path](path, request, body)

    def _has_key(self, request):
        key = self.traits.api_key
        return key is None or request.headers.get("authorization") == f"Bearer {key}"

    def _card(self):
        card = {"id": self.traits.model, "object": "model", "created": 1, "owned_by": "vllm"}
        length = self.traits.max_model_len if self.traits.tells_context else None
        return {**card, "root": "/models/tiny", "parent": None, "max_model_len": length}

    def _metrics(self):
        return "".join(
            f"# TYPE vllm:prefix_cache_{name}_total counter\n"
            f'vllm:prefix_cache_{name}_total{{engine="0",model_name="tiny"}} {float(count)}\n'
            f'vllm:prefix_cache_{name}_created{{engine="0",model_name="tiny"}} 1.79e+09\n'
            for name, count in (("queries", self.cache.queries), ("hits", self.cache.hits))
        )

    async def _tokenize(self, _path, _request, body):
        tokens = self._tokens(body)
        if isinstance(tokens, Response):
            return tokens
        length = self.traits.max_model_len
        count = {"count": len(tokens), "max_model_len": length}
        return as_json({**count, "tokens": tokens, "token_strs": None})

    def _tokens(self, body):
        """Return a body's prompt as tokens, or the error that it is."""
        if "messages" not in body:
            prompt = body["prompt"]
            return prompt if isinstance(prompt, list) else self.model.tokenizer.encode(prompt)
        has_system = any(message["role"] == "system" for message in body["messages"])
        if has_system and not self.traits.takes_system:
            return as_error(400, "System role not supported")
        return self.model.tokenizer.render(self._turns(body["messages"]))

    def _turns(self, messages):
        """Return what the chat template makes of the turns that were sent."""
        system = [message for message in messages if message["role"] == "system"]
        if not system and self.traits.default_system:
            system = [{"role": "system", "content": self.traits.default_system}]
        others = [message for message in messages if message["role"] != "system"]
        return others if self.traits.drops_system else [*system, *others]

    async def _ask(self, path, request, body):
        tokens = self._tokens(body)
        if isinstance(tokens, Response):
            return tokens
        if len(tokens) >= self.traits.max_model_len:
            return as_error(400, _too_long(self.traits.max_model_len, len(tokens)))
        prompt = self.model.tokenizer.prompt_of(tokens)
        self.recent.append((path, body))
        source = source_of(prompt)
        self._live[source] += 1
        self.max_in_flight = max(self.max_in_flight, self._live.total())
        self.max_live_sources = max(self.max_live_sources, len(self._live))
        try:
            if self.plan.latency_s:
                await asyncio.sleep(self.plan.latency_s)
            self.cache.look_up(prompt, len(tokens))
            return self._say(path, request, body, tokens, prompt)
        finally:
            self._live -= Counter([source])
            self._n_answered += 1
            if self._n_answered == self.plan.die_after:
                self._die()

    def _die(self):
        self.is_dead = True
        self.injected["death"] += 1
        if self.plan.dies_by == "closing":
            self._listener.close()

    def _say(self, path, request, body, tokens, prompt):
        is_scored = body.get("logprobs") is not None
        kind = self.draws.final(prompt, is_scored=is_scored)
        if kind is not None:
            self.injected[kind] += 1
        if kind == "refused":
            return as_error(400, "this is refused, as a guard rail would")
        if kind == "nan":
            return as_error(400, "Out of range float values are not JSON compliant: nan")
        if kind == "not_json":
            return Response(200, b"<html>Service is being updated</html>", "text/html")
        if kind == "no_choices":
            return as_json({"id": "cmpl-1", "model": self.traits.model, "choices": []})
        said = Said.of(self, body, tokens, prompt, kind)
        entries = None
        if is_scored and self.traits.logprobs != "none":
            entries = self._entries(body, prompt, (path, request.body), kind)
        shape = _chat if path == "/chat/completions" else _completion
        model = "another" if kind == "wrong_model" else self.traits.model
        return as_json(shape(said, entries, model, len(tokens)))

    def _entries(self, body, prompt, request, kind):
        """Return the log-probabilities that are told, by the token's name, sampled first."""
        probable = self.model.first_tokens(prompt)
        wanted = body.get("logprob_token_ids", ())
        if wanted and self.traits.logprobs == "token-ids":
            sampled = next(iter(probable))
            told = {token: self.model.logprob(prompt, token) for token in (sampled, *wanted)}
        else:
            n_top = body.get("top_logprobs", 0) or int(body["logprobs"])
            told = dict(list(probable.items())[: max(n_top, 1)])
        told = {
            token: min(0.0, value + self.draws.off_by(request, token))
            for token, value in told.items()
        }
        if kind == "fewer":
            told = dict(list(told.items())[: len(told) // 2])
        if kind in ("minus_infinity", "null_logprob"):
            told = dict.fromkeys(told, MINUS_INFINITY if kind == "minus_infinity" else None)
        by_id = self.traits.names_tokens_by_id and body.get("return_tokens_as_token_ids")
        name = (lambda token: f"token_id:{token}") if by_id else self.model.tokenizer.name
        return {name(token): value for token, value in told.items()}


@dataclass(frozen=True)
class Said:
    """A generated answer, as far as there was room for it."""

    text: str | None
    finish: str
    n_tokens: int

    @classmethod
    def of(cls, server, body, tokens, prompt, kind):
        tokenizer = server.model.tokenizer
        room = min(body["max_tokens"], server.traits.max_model_len - len(tokens))
        whole = {"empty": "", "garbage": "I {cannot say\n"}.get(kind)
        said = tokenizer.encode(server.model.answer(prompt) if whole is None else whole)
        if kind == "cut":
            room = max(1, len(said) // 2)
        kept = said[:room]
        finish = "length" if len(said) > room or kind == "cut" else "stop"
        text = None if kind == "null_text" else tokenizer.decode(kept)
        return cls(text, "abort" if kind == "odd_finish" else finish, len(kept))


def _chat(said, entries, model, n_prompt_tokens):
    message = {"role": "assistant", "content": said.text, "refusal": None, "reasoning": None}
    logprobs = None
    if entries is not None:
        top = [{"token": t, "logprob": v, "bytes": list(t.encode())} for t, v in entries.items()]
        logprobs = {"content": [{**top[0], "top_logprobs": top}]}
    choice = {"index": 0, "message": message, "logprobs": logprobs}
    return _envelope("chat.completion", choice, said, model, n_prompt_tokens)


def _completion(said, entries, model, n_prompt_tokens):
    logprobs = None
    if entries is not None:
        sampled = next(iter(entries))
        logprobs = {"text_offset": [0], "token_logprobs": [entries[sampled]], "tokens": [sampled]}
        logprobs["top_logprobs"] = [entries]
    choice = {"index": 0, "text": said.text, "logprobs": logprobs}
    return _envelope("text_completion", choice, said, model, n_prompt_tokens)


def _envelope(kind, choice, said, model, n_prompt_tokens):
    return {
        "id": "cmpl-1",
        "object": kind,
        "created": int(time.time()),
        "model": model,
        "choices": [{**choice, "finish_reason": said.finish, "stop_reason": None}],
        "system_fingerprint": "vllm-0.32.0-955f0e73",
        "usage": {
            "prompt_tokens": n_prompt_tokens,
            "total_tokens": n_prompt_tokens + said.n_tokens,
            "completion_tokens": said.n_tokens,
            "prompt_tokens_details": None,
        },
        "prompt_logprobs": None,
    }


def _failure(status):
    if status in (502, 504):  # a proxy says so
        return Response(status, b"<html><h1>Bad Gateway</h1></html>", "text/html")
    headers = (f"retry-after: {RETRY_AFTER}",) if status == 429 else ()
    return as_error(status, "this time it fails", "InternalServerError", headers=headers)


def _too_long(limit, count):
    if count == limit:
        return "max_tokens must be at least 1, got 0. (parameter=max_tokens, value=0)"
    return (
        f"This model's maximum context length is {limit} tokens. However, your prompt contains at "
        f"least {count} input tokens, which exceeds this limit even without any output tokens. "
        f"Please reduce the length of the input prompt. (parameter=input_tokens, value={count})"
    )
