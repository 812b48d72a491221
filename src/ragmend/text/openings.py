"""Words at the start of a sentence: which are ordinary, and which can only be a name.

A capital proves nothing there. But English begins a sentence with a bare noun and a verb
only if the noun is a plural, a substance or a name: "Smith met her", "Water is free".
"""

import re

from ragmend.text.verbs import is_finite
from ragmend.text.words import ATTRIBUTION_WORDS, STOP_WORDS, Word, is_negation


def _listed(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Endings of adverbs, participles and of nouns that need no article.
_ORDINARY_ENDING = re.compile(
    r".{3,}(?:ing|ed|ly|tion|sion|ment|ness|ity|ism|ance|ence|able|ible|ful|less|ous|ive|ical|"
    r"ize|ise|ify|ship|age|ual|ics|sis|itis)s?"
)
_PLURAL = re.compile(r".*[^s]s")
_SINGULAR_VERBS = frozenset({"is", "was", "has", "does"})  # "Adams was", but "Diners praised"
# Source: the words that begin a sentence in RAGTruth's answers without being in the source of
# the answer, in two answers or more, and that at least three answers write small; and the
# nouns without an article of its data-to-text answers.
_ORDINARY = _listed(
    """
    art bonus campus consensus delivery evidence focus history internet light service sound status
    takeout virus
    add additional address adequate adjust administer afterward aim allow aloe answer anti
    arrange attach attend avoid bake beat begin best better blend boost brush build butter
    calculate call care certain change check cheese chicken choose clean click close coconut
    coffee color combine common compare concentrate conduct confirm connect consider consult
    consume continue convenient convert cook cost cotton cover create crime crowd cut dairy
    death decide decor define demand determine develop diet different difficulty dim disconnect
    divide download drain drizzle drug dry easier eat energy enjoy enter establish estimate
    explore express faster fiber fill find finish fire first fish flip fold follow food form
    fruit further gather go good growth health heat hello help hence high higher hold improve
    incorporate increase insert install introduce it keep key known labor law leave length let
    level life lifestyle locate log look loss low lower maintain marinate market maximum
    meanwhile measure meat medicine meet method milk mix money monitor music navigate network
    nobody note nothing number observe obtain oil one open oven oxygen pack pain participate
    pasta pay people perform personal pizza plant please police poor post potential power
    practice preheat prepare present press pressure price print prior problem process
    proportional protect protein provide public pull purpose put rain read reduce reflect
    regular relief remain remember remind remove repeat replace research respond rest return
    rice rich right rinse risk run salt save scope scroll seal season secure seek select send
    serve set share show shut similar smoke smooth soak soil someone something soup spread staff
    start stay step stir stop store strain structure sugar sun support take target taste tea
    temperature test thank tighten time today tomorrow total traffic train transfer travel
    trouble try tune turn type uncheck unclear understand unknown unlike use visit wait wash
    water wear weather wheat wine wood work write yesterday
    """
)


def can_only_be_a_name(opening: Word, following: Word) -> bool:
    """Tell whether a sentence's first word must name somebody or something.

    Args:
        opening: The first word, capitalised.
        following: The word behind it.
    """
    norm = opening.norm
    is_function = norm in STOP_WORDS or norm in ATTRIBUTION_WORDS or is_negation(norm)
    is_ordinary = is_function or norm in _ORDINARY or _ORDINARY_ENDING.fullmatch(norm)
    is_plural = _PLURAL.fullmatch(norm) and following.norm not in _SINGULAR_VERBS
    return not (is_ordinary or is_plural) and is_finite(following.norm)
