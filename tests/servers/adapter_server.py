"""The fault server as a vLLM server with a base and one adapter; a token is a character.

It tells token ids, as vLLM does where `return_token_ids` is set, and ends an answer with a token.
"""

import json

from fake_http import as_json
from fake_model import unit
from fault_server import FaultServer, Traits

BEGIN, END = 1, 2


class Characters:
    """A tokenizer: a character's code point is its token."""

    def encode(self, text):
        return [ord(character) for character in text]

    def decode(self, tokens):
        return "".join(chr(token) for token in tokens if token > END)

    prompt_of = decode

    def name(self, token):
        return chr(token)


def verdict_by_hash(prompt):
    """Return a detector's answer: its spans are the answer's second word, or none."""
    answer = prompt.rpartition("<answer>\n")[2].partition("\n</answer>")[0]
    spans = answer.split(" ")[1:2] if unit("verdict", prompt) < 0.5 else []
    return json.dumps({"hallucinated": bool(spans), "spans": spans}, ensure_ascii=False)


class AdapterServer(FaultServer):
    """A fault server whose model is an adapter on a base.

    Attributes:
        base: The base's name.
        parent: The base that the adapter's card names.
        root: Where the adapter's card says that it lies.
        uses_adapter: Whether the adapter says something else than the base.
        changes_prompts: Whether something between cuts the prompts.
    """

    def __init__(
        self,
        plan=None,
        *,
        adapter,
        base="org/base",
        max_model_len=4096,
        answer=verdict_by_hash,
        **traits,
    ):
        own = Traits(model=adapter, max_model_len=max_model_len, **traits)
        super().__init__(plan, own, answer=answer)
        self.model = self.model._replace(tokenizer=Characters())
        self.base = self.parent = base
        self.root = "/runs/adapter"
        self.uses_adapter = True
        self.changes_prompts = False

    async def _answer(self, path, request):
        if path == "/models":
            length = self.traits.max_model_len if self.traits.tells_context else None
            base = {"id": self.base, "root": "/base", "parent": None, "max_model_len": length}
            own = {"id": self.traits.model, "root": self.root, "parent": self.parent}
            return as_json({"object": "list", "data": [base, {**own, "max_model_len": None}]})
        if request.body and (body := json.loads(request.body))["model"] == self.base:
            as_own = {**body, "model": self.traits.model, "of_base": True}
            request = request._replace(body=json.dumps(as_own).encode())
        return await super()._answer(path, request)

    def _say(self, path, request, body, tokens, prompt):
        response = super()._say(path, request, body, tokens, prompt)
        try:
            answer = json.loads(response.body)
            choice = answer["choices"][0]
        except (ValueError, LookupError):
            return response
        is_of_base = body.get("of_base", False)
        if is_of_base:
            answer["model"] = self.base
            if self.uses_adapter:
                choice["text"] = "The base says nothing like it."[: body["max_tokens"]]
        ids = self.model.tokenizer.encode(choice["text"] or "")
        if choice["finish_reason"] == "stop":
            ids = [*ids, END][: body["max_tokens"]]
            if ids[-1] != END:
                choice["finish_reason"] = "length"
        told = choice["logprobs"]["token_logprobs"][0]
        logprobs = [told if told in (None, -9999.0) else -unit(prompt, n) for n in ids]
        choice |= {
            "token_ids": ids,
            "prompt_token_ids": tokens[: -1 if self.changes_prompts else None],
        }
        choice["logprobs"] = {"token_logprobs": logprobs}
        return as_json(answer)
