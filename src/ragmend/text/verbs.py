"""English verbs in a finite form, as far as a list and one ending can tell them."""


def _listed(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Source: the auxiliaries, and the verbs that carry most of RAGTruth's answers.
AUXILIARIES = _listed(
    """
    am are aren't can can't cannot could couldn't did didn't do does doesn't don't had hadn't
    has hasn't have haven't is isn't may might must shall should shouldn't was wasn't were
    weren't will won't would wouldn't
    """
)
_LEXICAL = _listed(
    """
    accepts adds aims allows announces appears argues asks attracts became began believes
    belongs broke brought built calls came caught causes chose claims comes contains continues
    covers creates denies describes died discusses drew drove enjoys ensures expects explains
    faces features fell felt finds flew focuses follows fought found gave gets gives goes got
    grew happens held helps highlights hit hopes hosts includes indicates involves joins keeps
    killed knew leads led left lies likes lives lost loves made makes means meets mentions met
    moved needs offers opens owns paid plans plays praises prefers provides puts ran ranges
    reached reads receives remains reports represents requires revealed reveals runs said sat
    saw says seeks seems sells sent serves shot shows shut sits slept sold speaks spent spoke
    stands started states stays stole stood struck suggests supports takes taught tells thinks
    threw told took turns understood urges uses varies visits wants warns went wins won works
    writes wrote
    """
)


def is_finite(norm: str) -> bool:
    """Tell whether a normalised word is a finite verb, or a participle that looks like one."""
    return norm in AUXILIARIES or norm in _LEXICAL or (norm.endswith("ed") and len(norm) > 4)
