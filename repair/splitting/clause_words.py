"""Closed word lists by which the splitter recognises a subject and a finite verb.

All are lower case. They are meant to be sure rather than complete: a verb that is missing
leaves a sentence whole.
"""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


CERTAIN_VERBS = _words(
    """is are was were has have had can could will would may might must should shall does do did
    cannot isn't aren't wasn't weren't hasn't haven't hadn't can't couldn't won't wouldn't mustn't
    shouldn't doesn't don't didn't isn’t aren’t wasn’t weren’t hasn’t haven’t hadn’t can’t couldn’t
    won’t wouldn’t mustn’t shouldn’t doesn’t don’t didn’t"""
)
"""Finite wherever they stand behind a subject."""

REPORTING_VERBS = _words(
    """said says stated states mentioned mentions suggested suggests claimed claims reported
    reports noted notes explained explains believed believes thought thinks argued argues added
    adds indicated indicates confirmed confirms announced announces revealed reveals found finds
    showed shows told tells warned warns recommended recommends advised advises discussed
    discusses described describes implies implied emphasized emphasizes highlights highlighted
    alleged alleges testified wrote writes complained complains feel feels"""
)
"""What they introduce holds only as reported, so a clause behind it may hang on them."""

REPORTING_PARTICIPLES = _words(
    """saying stating mentioning suggesting claiming reporting explaining believing arguing
    adding indicating confirming announcing revealing showing warning implying complaining
    feeling"""
)
"""They report too, before "that"."""

PRESENT_VERBS = REPORTING_VERBS | _words(
    """offers provides includes serves features allows requires contains needs takes makes gives
    becomes remains seems appears comes goes gets keeps helps uses receives operates opens closes
    begins starts ends lives works plays leads causes creates produces costs ranges varies depends
    follows covers holds lies stands represents refers means consists involves occurs happens
    enjoys accepts boasts lacks caters specializes supports affects increases decreases reduces
    praises praise prefer recommend rate offer provide include serve allow require contain need
    tend vary depend differ exist remain seem appear believe consider continue continues"""
)

PAST_VERBS = _words(
    """went became took gave began came made left held led won lost met sent built paid kept felt
    brought ran rose fell grew knew got saw heard spoke chose broke drove flew drew threw stood
    understood spent sold caught taught fought bought sought dealt slept meant swore wore"""
)
"""Irregular forms; the regular ones are known by -ed."""

SUBJECT_PRONOUNS = _words("i he she we they you")
LOOSE_PRONOUNS = _words(
    """it there this these those others some one nobody somebody everybody nothing something
    everything everyone someone"""
)
"""Subjects only if the next word can be a finite verb; else they may be anything."""

ARTICLES = _words("the a an his her its their our my your every")
"""A noun or adjective follows them, never a verb."""

DETERMINERS = ARTICLES | _words(
    """this these those some many several each all both
    other another no one most any few two three four five six seven eight nine ten"""
)

PREPOSITIONS = _words(
    """of in on at for from with by to about after before during under over into through between
    among without within against despite upon near around across along behind beyond until since
    as like than per via toward towards including except according based due"""
)

COORDINATORS = _words("and but so or yet")

SUBORDINATORS = _words(
    """if when while although though because since as after before once unless until whether
    whenever wherever whereas given even"""
)

RELATIVE_WORDS = _words(
    """that which who whom whose where when if because whether how why what than as to unless
    although though until while not"""
)
"""A verb behind one of these is not the verb of the clause."""

HANGING_WORDS = _words("because when where if unless until whether how why whenever")
"""They open a clause that what follows "and" may still belong to."""

ADVERBS = _words(
    """also then still now often sometimes usually never always only just even later soon however
    therefore thus instead additionally meanwhile furthermore moreover otherwise eventually both
    finally already ultimately generally typically currently initially similarly consequently
    likewise nevertheless nonetheless overall again perhaps maybe"""
)

CONNECTIVES = COORDINATORS | _words(
    """also then still only just even however therefore thus instead additionally meanwhile
    furthermore moreover finally both similarly consequently likewise nevertheless nonetheless
    overall again firstly secondly lastly conversely unfortunately fortunately interestingly
    importantly specifically"""
)
"""They open a clause and do not limit where it holds."""

CONNECTING_PHRASES = frozenset(
    {"in addition", "in conclusion", "in contrast", "in fact", "in general", "in other words"}
    | {"in short", "in summary", "for example", "for instance", "on the other hand", "of course"}
    | {"as a result", "after all", "to summarize", "in particular", "on the whole"}
)
"""They do not either."""

SCOPE_VERBS = _words(
    "make ensure check note remember imagine suppose assume let verify confirm keep see"
)
"""Imperatives that take a whole clause: "make sure the pan is hot, and the oil is ready"."""

NO_SUBJECTS = RELATIVE_WORDS | SCOPE_VERBS | {"here", "below"}
"""No clause with a subject of its own opens with one of these."""
