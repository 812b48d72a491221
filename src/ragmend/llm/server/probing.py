"""What a server is, found out by asking: its model, its version, and what it can do."""

from collections.abc import Sequence

from ragmend.errors import AnswerFaultError, ServerError
from ragmend.llm.labels import NO_FORMS, YES_FORMS
from ragmend.llm.protocol import Prompt
from ragmend.llm.server.answers import ModelCard, ModelList, Tokens, Version
from ragmend.llm.server.asking import Asker
from ragmend.llm.server.faults import MissingEndpointError
from ragmend.llm.server.label_tokens import LabelTokens, among_the_top, by_ids
from ragmend.llm.server.model import ServerModel
from ragmend.llm.server.questions import Dialect
from ragmend.sections.models import ModelConfig

PROBE = Prompt("Answer with Yes or No.", "Is water wet?")
LONGER = PROBE._replace(system=f"{PROBE.system} Say nothing else, and give no reason.")
NO_VERSION = (404, 405)


async def find_model(asker: Asker, model: ModelConfig) -> ModelCard:
    """Return what the server says of the configured model.

    Raises:
        ServerError: It does not have it, or is no server with OpenAI's interface.
    """
    url, name = asker.server.url, model.name_on_server
    try:
        models = (await asker.ask("models", None, ModelList.model_validate_json)).data
    except AnswerFaultError as fault:
        raise ServerError(
            f"{url} is no server with OpenAI's interface ({fault}): put its address right, "
            "it mostly ends in /v1"
        ) from fault
    for card in models:
        if card.id == name:
            return card
    found = ", ".join(repr(asker.server.hide_key(card.id)) for card in models) or "no model"
    raise ServerError(
        f"{url} does not have the model {name!r}, it has {found}: start the right server, or name "
        f"the model as it does in `served_name`"
    )


def check_context(card: ModelCard, model: ModelConfig, url: str) -> int:
    """Return the context length in tokens, which the server and the configuration agree on.

    Raises:
        ServerError: They do not, or neither tells one.
    """
    told, wanted = card.max_model_len, model.max_model_len
    if told is not None and wanted is not None and told != wanted:
        raise ServerError(
            f"{url} serves {card.id!r} with a context of {told} tokens, `max_model_len` says "
            f"{wanted}: start it with that one, or configure the one it has"
        )
    if (length := told if told is not None else wanted) is None:
        raise ServerError(
            f"{url} does not tell the context length of {card.id!r}: give it as `max_model_len`"
        )
    return length


async def find_version(asker: Asker) -> str | None:
    """Return the version a vLLM server tells; others have none, and say so by 404 or 405.

    Raises:
        ServerError: It is not known whether it has one, and it decides how to ask.
    """
    try:
        return (await asker.ask("/version", None, Version.model_validate_json)).version
    except AnswerFaultError as fault:
        if isinstance(fault, MissingEndpointError) and fault.code in NO_VERSION:
            return None
        raise ServerError(
            f"{asker.server.url}: whether it is a vLLM server is not known, for its /version "
            f"neither tells one nor is missing (404, 405): {fault}; put that right, for others "
            "are asked in another way"
        ) from fault


async def can_tokenize(asker: Asker, dialect: Dialect) -> bool:
    """Tell whether the server has `/tokenize`.

    Raises:
        ServerError: It does not, and the configured endpoint cannot do without.
    """
    body = dialect.to_tokenize_text(PROBE.user)
    try:
        await asker.ask("/tokenize", body, Tokens.model_validate_json)
    except AnswerFaultError as fault:
        if dialect.endpoint == "completions":
            raise ServerError(
                f'endpoint "completions" is sent tokens, and they cannot be had: {fault}; '
                'configure endpoint = "chat"'
            ) from fault
        if not isinstance(fault, MissingEndpointError):
            raise
        return False
    return True


async def refuses_system(model: ServerModel) -> bool:
    """Tell whether the chat template refuses or drops a system turn, and takes its text without.

    That it is dropped shows only where the server tokenizes.

    Raises:
        AnswerFaultError: It takes neither.
    """
    folding = model.folding_system()
    try:
        await model.count_tokens(PROBE)
    except AnswerFaultError as fault:
        if fault.status != "refused":
            raise
        await folding.count_tokens(PROBE)
        return True
    if not model.dialect.tokenizes:
        return False
    return await _drops_system(model) and not await _drops_system(folding)


async def find_labels(model: ServerModel, forms: Sequence[str]) -> LabelTokens:
    """Return how the labels are scored on this server, tried with one question.

    Raises:
        AnswerFaultError: The question has no answer.
        ServerError: The server gives no log-probabilities, or no form of Yes, or none of No, is
            one token.
    """
    ways: list[LabelTokens] = []
    if model.dialect.tokenizes:
        exact = by_ids({form: await model.tokenize_text(form) for form in forms})
        for side in (YES_FORMS, NO_FORMS):
            if not any(form in exact.names for form in side):
                raise ServerError(
                    f"{model.model} has no single token for any of {list(side)}: it cannot be a "
                    "verifier that reads them, configure another model"
                )
        ways += [exact, among_the_top(exact.names)]
    ways.append(among_the_top({form: form for form in (ways[0].names if ways else forms)}))
    faults: list[AnswerFaultError] = []
    for way in ways:
        try:
            return way.settle(await model.first_token(PROBE, way))
        except AnswerFaultError as fault:
            if fault.status not in ("empty", "refused"):
                raise
            faults.append(fault)
    raise ServerError(
        f"{model.asker.server.url} gives no log-probabilities of {model.model} ({faults[-1]}): "
        "a verifier needs them, serve it with vLLM"
    ) from faults[-1]


async def _drops_system(model: ServerModel) -> bool:
    """Tell whether a longer system text makes no longer prompt.

    It is compared with another system text and not with none: in place of none, some templates
    put a text of their own, which is longer.
    """
    return await model.count_tokens(LONGER) <= await model.count_tokens(PROBE)
