"""Whether an account and a quality of service may be used, and for so much."""

from collections.abc import Iterator, Mapping

from ragmend.slurm.accounts import Accounts, Cap
from ragmend.slurm.checking.wanted import MB_PER_GB, Wanted, did_you_mean, listed
from ragmend.slurm.times import format_time

_FIELDS = {"cpu": "cpus", "mem": "memory_gb", "gres/gpu": "gpus"}
_KINDS = {
    "MaxTRES": "a job",
    "MaxTRESPerUser": "all jobs of a user together",
    "GrpTRES": "all jobs together",
}


def check_accounts(wanted: Wanted) -> Iterator[str]:
    """Yield what SLURM would refuse, or never start, for its account or quality of service."""
    accounts = wanted.limits.accounts
    if accounts is None or not accounts.is_enforced:
        return
    yield from _unknown_account(wanted, accounts)
    yield from _unknown_qos(wanted, accounts)
    yield from _beyond_caps(wanted)


def warn_of_accounts(wanted: Wanted) -> Iterator[str]:
    """Yield what could not be checked, or is unknown to a cluster which does not mind."""
    accounts, limits = wanted.limits.accounts, wanted.limits
    if accounts is not None:
        if not accounts.is_enforced:
            yield from _unknown_account(wanted, accounts)
            yield from _unknown_qos(wanted, accounts)
        return
    why = (
        f"the accounting did not answer ({limits.unread})"
        if limits.has_accounting
        else f"{limits.cluster} has no accounting, and takes any"
    )
    for field in ("account", "qos"):
        if getattr(wanted.resources, field) is not None:
            yield f"{wanted.says(field)} could not be checked: {why}"


def caps_of(wanted: Wanted) -> Mapping[tuple[str, str], Cap]:
    """Return the limits of its account and its qualities of service."""
    accounts, association, partition = wanted.limits.accounts, wanted.association, wanted.partition
    if accounts is None or association is None or not accounts.is_enforced:
        return {}
    return accounts.caps_of(association, wanted.qos, partition.own_qos if partition else None)


def _unknown_account(wanted: Wanted, accounts: Accounts) -> Iterator[str]:
    if wanted.association is not None:
        return
    asked = wanted.resources.account
    yours = f"{accounts.user} has: {listed(accounts.names) or 'none'}"
    if asked is None and not accounts.default:
        yield f"{wanted.key('account')} is not set, and there is no default account; {yours}"
    elif (name := asked or accounts.default) in accounts.names:
        where = sorted(each.partition for each in accounts.associations if each.account == name)
        yield f"{wanted.key('account')}: {name} is for partition {listed(where)} only; {yours}"
    else:
        hint = did_you_mean(name, accounts.names)
        yield f"{wanted.key('account')}: {name!r} is no account of yours{hint}; {yours}"


def _unknown_qos(wanted: Wanted, accounts: Accounts) -> Iterator[str]:
    asked, association = wanted.resources.qos, wanted.association
    if asked is None:
        return
    # An account without a list of its own does not say which it may use.
    own = association.qos if association is not None else frozenset[str]()
    usable = sorted(own or accounts.qualities)
    if asked not in usable:
        whose = f"account {association.account}" if association and own else wanted.limits.cluster
        hint = did_you_mean(asked, usable)
        yield f"{wanted.says('qos')}: {whose} has none such{hint}; it has: {listed(usable)}"


def _beyond_caps(wanted: Wanted) -> Iterator[str]:
    for (kind, of), cap in caps_of(wanted).items():
        if kind == "MaxWall" and wanted.time_s > cap.value:
            yield f"{wanted.says('time')}: {cap.whose} allows {format_time(cap.value)} (MaxWall)"
        elif kind in _KINDS and _amount(wanted, of) > cap.value:
            most = f"{cap.value // MB_PER_GB}" if of == "mem" else f"{cap.value}"
            says = wanted.says(_FIELDS[of.partition(":")[0]])
            yield f"{says}: {cap.whose} allows {_KINDS[kind]} {most} at most ({kind}, {of})"


def _amount(wanted: Wanted, of: str) -> int:
    """Return how much a task asks for of what SLURM names so; 0 of anything else."""
    name, _, kind = of.partition(":")
    if kind and kind != wanted.gpu_type:
        return 0
    return {"cpu": wanted.cpus, "mem": wanted.memory_mb, "gres/gpu": wanted.gpus}.get(name, 0)
