"""`ragmend detect push`: a detector goes to a model hub, on request only."""

import os
import re

from ragmend.cli.context import Context
from ragmend.cli.training.plan import RunName, plan_training
from ragmend.cli.training.predicting import require_trained
from ragmend.errors import ConfigError, RunStateError, ServerError
from ragmend.io import read_record
from ragmend.trained import HealthReport

TOKEN = "HF_TOKEN"  # noqa: S105 - a variable's name
_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}")


def push(
    context: Context, run: RunName, repo: str, *, public: bool, although_unhealthy: bool
) -> str:
    """Upload the chosen weights, their settings and card; a token classifier's tokenizer too.

    Args:
        context: The run folder.
        run: A complete training.
        repo: "owner/name"; it is made, private, where it is not there.
        public: Whether it is made public instead.
        although_unhealthy: Whether a training that is not usable may go too.

    Returns:
        Where it is.

    Raises:
        ConfigError: No token, or no such name.
        RunStateError: The training is not complete, or not healthy.
        ServerError: The hub refuses, or is not there.
    """
    require_trained(context, run)
    token = os.environ.get(TOKEN, "")
    if not token:
        raise ConfigError(f"{TOKEN} is not set: it is to hold a token that may write to {repo}")
    if _REPOSITORY.fullmatch(repo) is None:
        raise ConfigError(f"--repo {repo}: expected OWNER/NAME")
    paths = plan_training(context, run).paths
    health = read_record(paths.health, HealthReport)
    if health.verdict != "usable" and not although_unhealthy:
        raise RunStateError(
            f"{run.run_id} is {health.verdict} ({'; '.join(health.reasons)}); "
            "--although-unhealthy uploads it all the same, its card says so"
        )
    return _upload(str(paths.adapter), repo, token, public=public, message=f"Upload {run.run_id}")


def _upload(folder: str, repo: str, token: str, *, public: bool, message: str) -> str:
    try:
        from huggingface_hub import HfApi
        from huggingface_hub.errors import HfHubHTTPError
    except ImportError as error:
        raise ConfigError(
            f"a hub is spoken to by huggingface_hub, which cannot be imported ({error}); install "
            "it by: pip install 'ragmend[train]'"
        ) from error
    hub = HfApi(endpoint=os.environ.get("HF_ENDPOINT"), token=token)
    try:
        hub.create_repo(repo, private=not public, exist_ok=True)
        commit = hub.upload_folder(repo_id=repo, folder_path=folder, commit_message=message)
    except (HfHubHTTPError, OSError, ValueError) as error:
        first = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise ServerError(f"{repo}: the hub did not take it: {first}") from error
    return str(commit.commit_url)
