"""The cache of the model hub, read by its layout alone: no library of the hub, no network.

The layout is `models--OWNER--NAME/` with `refs/<branch>` (a commit), `snapshots/<commit>/` (links
to `blobs/`) and, where a recent library has fetched it, `trees/<commit>.json` (every file of the
repository with its size).
"""

import os
import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from ragmend.errors import RagmendError
from ragmend.io import Line, parse_object, read_file

ALLOWED = ("*.safetensors", "*.json", "*.txt", "*.model", "*.jinja", "*.tiktoken")
"""What is fetched of a repository: weights, settings, tokenizer; no pickle and no code."""
IGNORED = (
    "*/*.safetensors",  # weights below the top are of another library
    "consolidated*.safetensors",  # the same weights once more, in Mistral's form
    "original/*",  # the same once more, in Meta's
    "onnx/*",
    "openvino/*",
)
WEIGHTS, WEIGHTS_INDEX = "model.safetensors", "model.safetensors.index.json"
VOCABULARIES = (
    *("tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt", "spiece.model"),
    *("sentencepiece.bpe.model", "tekken.json"),
)
INCOMPLETE = "*.incomplete"
COMMIT = re.compile(r"[0-9a-f]{40}")
TREE_FORMAT = 1
_REPOSITORY = re.compile(r"([A-Za-z0-9_][\w.-]{0,95}/)?[A-Za-z0-9_][\w.-]{0,95}", re.ASCII)
_TRUE = ("1", "ON", "YES", "TRUE")


def hub_cache(environ: Mapping[str, str]) -> Path:
    """Return the hub's cache as its own library finds it.

    Args:
        environ: HF_HUB_CACHE, HF_HOME and XDG_CACHE_HOME are looked up in it.
    """
    home = environ.get("XDG_CACHE_HOME") or "~/.cache"
    below = environ.get("HF_HOME") or f"{home}/huggingface"
    told = environ.get("HF_HUB_CACHE") or environ.get("HUGGINGFACE_HUB_CACHE") or f"{below}/hub"
    return Path(os.path.expandvars(told)).expanduser().absolute()


def hub_is_offline(environ: Mapping[str, str]) -> bool:
    """Tell whether the environment forbids the hub's libraries to use the network."""
    told = environ.get("HF_HUB_OFFLINE") or environ.get("TRANSFORMERS_OFFLINE") or ""
    return told.upper() in _TRUE


def is_repository(model_id: str) -> bool:
    """Tell whether a model's id can be one of a repository."""
    return _REPOSITORY.fullmatch(model_id) is not None and "--" not in model_id


def model_cache(model_id: str, cache: Path) -> Path:
    """Return where the cache keeps a model, all revisions of it."""
    return cache / f"models--{model_id.replace('/', '--')}"


def cached_snapshot(
    model_id: str, revision: str | None, environ: Mapping[str, str] | None = None
) -> Path | None:
    """Return where a model lies in the cache, if all of it does.

    Args:
        model_id: As in "Qwen/Qwen2.5-7B-Instruct".
        revision: A commit, branch or tag; None: whatever "main" was when it was fetched.
        environ: The variables that say where the cache is; the process's own when None.

    Returns:
        The absolute path of `snapshots/<commit>`, or None.
    """
    if cache_problem(model_id, revision, environ) is not None:
        return None
    return find_snapshot(model_id, revision, hub_cache(_or_own(environ)))


def cache_problem(
    model_id: str, revision: str | None, environ: Mapping[str, str] | None = None
) -> str | None:
    """Say what a model in the cache lacks; None: nothing. The arguments are `cached_snapshot`'s."""
    if not is_repository(model_id):
        return "this is no id of a repository (OWNER/NAME)"
    cache = hub_cache(_or_own(environ))
    snapshot = find_snapshot(model_id, revision, cache)
    if snapshot is None:
        return f"not in {cache}"
    return next(_problems(snapshot), None)


def find_snapshot(model_id: str, revision: str | None, cache: Path) -> Path | None:
    """Return the snapshot of a revision, whether or not all of it is there."""
    home, wanted = model_cache(model_id, cache), revision or "main"
    commit: str | None = wanted
    if COMMIT.fullmatch(wanted) is None:
        commit = None if ".." in wanted else _read_reference(home / "refs" / wanted)
    if commit is None or not (home / "snapshots" / commit).is_dir():
        return None
    return home / "snapshots" / commit


def is_wanted(name: str) -> bool:
    """Tell whether a file of a repository is fetched, by its path there."""
    wanted = any(fnmatchcase(name, pattern) for pattern in ALLOWED)
    return wanted and not any(fnmatchcase(name, pattern) for pattern in IGNORED)


def snapshot_bytes(snapshot: Path) -> int:
    """Return the size of what is fetched of a model, in bytes."""
    return sum(
        path.stat().st_size
        for path in snapshot.rglob("*")
        if path.is_file() and is_wanted(path.relative_to(snapshot).as_posix())
    )


def incomplete_files(model_id: str, cache: Path) -> list[Path]:
    """Return the half-fetched files of a model: of a download that runs, or that was killed."""
    return sorted((model_cache(model_id, cache) / "blobs").glob(INCOMPLETE))


def _or_own(environ: Mapping[str, str] | None) -> Mapping[str, str]:
    return os.environ if environ is None else environ


def _read_reference(path: Path) -> str | None:
    try:
        commit = read_file(path).decode("ascii").strip()
    except (RagmendError, UnicodeDecodeError):
        return None
    return commit if COMMIT.fullmatch(commit) else None


def _problems(snapshot: Path) -> Iterator[str]:
    """Yield what is missing of a snapshot, the plainest first."""
    sizes = _listed_sizes(snapshot)
    if sizes is None:
        home = snapshot.parent.parent
        if any((home / "blobs").glob(INCOMPLETE)):
            yield f"{home / 'blobs'} holds half-fetched files, and no list says of what"
    else:
        yield from _differences(snapshot, sizes)
    for path in sorted(snapshot.rglob("*")):
        if path.is_symlink() and not path.exists():
            yield f"{path.name} is a link to a file that is not there"
    if not (snapshot / "config.json").is_file():
        yield "config.json is missing"
    yield from _missing_weights(snapshot)
    if not any((snapshot / name).is_file() for name in VOCABULARIES):
        yield "its tokenizer is missing"


def _listed_sizes(snapshot: Path) -> dict[str, int] | None:
    """Return all that is to be there with its size in bytes, where the cache knows."""
    listing = snapshot.parent.parent / "trees" / f"{snapshot.name}.json"
    try:
        found = parse_object(Line(str(listing), read_file(listing).decode()))
        if found["format_version"] != TREE_FORMAT:
            return None
        return {
            name: int(facts.get("lfs_size") or facts["size"])
            for name, facts in found["files"].items()
            if is_wanted(name)
        }
    except (RagmendError, UnicodeDecodeError, KeyError, TypeError, AttributeError, ValueError):
        return None  # of another library, or none: the files themselves are looked at


def _differences(snapshot: Path, sizes: Mapping[str, int]) -> Iterator[str]:
    for name, size in sorted(sizes.items()):
        path = snapshot / name
        if not path.is_file():
            yield f"{name} is missing"
        elif (found := path.stat().st_size) != size:
            yield f"{name} has {found:,} bytes, its repository says {size:,}"


def _missing_weights(snapshot: Path) -> Iterator[str]:
    index = snapshot / WEIGHTS_INDEX
    if not index.is_file():
        if not (snapshot / WEIGHTS).is_file():
            yield f"no safetensors ({WEIGHTS} or {WEIGHTS_INDEX}); pickles are not loaded"
        return
    try:
        shards = parse_object(Line(str(index), read_file(index).decode()))["weight_map"].values()
        missing = sorted(name for name in set(shards) if not (snapshot / name).is_file())
    except (RagmendError, UnicodeDecodeError, KeyError, TypeError, AttributeError):
        yield f"{WEIGHTS_INDEX} cannot be read"
        return
    if missing:
        yield f"{len(missing)} shards of its weights are missing, as {missing[0]}"
