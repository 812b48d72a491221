"""Words that decide where a claim may be cut, see `ragmend.repair.claim_cuts`.

Source: English grammar's closed classes, and what reading the cuts of RAGTruth's answers showed.
"""

from ragmend.text.verbs import AUXILIARIES


def _listed(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Behind these a cut can make the rest say more; a bracket or listing that has one stays.
LIMITS = _listed(
    """
    all any anyone anything both but each either else every everyone everything except exception
    few hardly if least nearly neither nor only or otherwise provided rarely scarcely seldom sole
    unless until when whenever whether allegedly avoid avoided ban banned banning bans barely
    decline declined denied denies deny fail failed fails preventing prohibited prohibiting refuse
    refused refuses stopped
    """
)
# Behind these a prepositional phrase narrows what is said.
COMPARISONS = _listed(
    """
    best biggest closest deadliest earliest fastest first greatest highest largest last latest
    less longest lowest main more most must need needs newest next oldest rather same second
    shortest should smallest so strongest than third too top worst youngest can could may might
    expected likely plan planned plans scheduled set wants would
    """
)
RELATIVES = _listed("which who whom whose where")
LISTINGS = _listed("including featuring with plus")
NO_PARTICIPLES = _listed(
    """
    according anything assuming barring beijing bring ceiling concerning considering depending
    during evening everything excluding featuring following including king morning nothing
    notwithstanding pending providing regarding something spring string thing wedding willing wing
    """
)
PARTICIPLES = _listed("located situated known founded")
PREPOSITIONS = _listed(
    "after along around at because before by due during for from in near on since with within"
)
# Behind a preposition: a particle, or a phrase that picks out what is meant.
NARROWING = PREPOSITIONS | _listed(
    "all as average certain first general last least most no of once order other particular some "
    "specific to which whom"
)
SAFE_IN_THE_PRESENT = _listed("along because due near with")
SAFE_BEHIND_A_VERB = _listed("after because before due during since")
COPULAS = _listed(
    """
    am are be became become becomes been being feel feels felt is isn't looked looks remained
    remains seem seemed seems was were stay stays stayed
    """
)
# A noun or number follows: what stands behind a copula is no adjective.
DETERMINERS = _listed("a an the his her its their our my your this that these those some many")
PAST = _listed(
    """
    became began broke brought built came caught chose did died drew drove fell felt flew fought
    found gave got grew had held hit knew killed led left lost made met said sat saw sent shot
    sold spent spoke stole stood struck taught threw told took was went were won wrote
    """
)
# No sentence ends in one of these, or it would mean something else: words that want the
# preposition behind them among them.
UNFINISHED = AUXILIARIES | _listed(
    """
    a about according across against along among an and as at be because been before being
    between by called consist consisted consists due ever even for from how in including into is
    just like much named near of on once one other over per set since some such that the their
    there these this those though through to toward towards under up upon very via what while with
    within yet also

    accused added appear appeared appears based belonged caught charged compared composed comprised
    connected convicted covered dedicated depend depended depends described devoted differ divided
    engaged equipped filled focus focused focuses followed go goes interact interacted
    interested inspired involved
    known limited linked lead leads led live lived lives located look looked looks made marked met
    originated participate participated placed range ranged ranges rated regarded related relied
    replaced result resulted results separated served serves situated specialize specialized
    specializes struck stem stemmed stems suffer suffered suffers surrounded ranked used viewed went
    work worked works brought take takes took taken put puts

    his her its our my your they he she it we i you him them not well back out down away off

    access addition agreement alternative amount approach attack attacks attention case charge
    charges collection combination comparison concern concerns conjunction connection contact
    contrast damage demand difference effect experience face fact favor favour focus freedom front
    impact increase interest issue issues lack level levels line need number order part place
    problem problems range reason reasons relation relationship response responsible role
    reputation search spite support terms trouble use variety view way ways
    """
)
