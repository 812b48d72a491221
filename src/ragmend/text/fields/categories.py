"""Yelp's categories, one by one: "Bars, Mexican, Restaurants" has a Mexican restaurant in it."""

import re

# Source: Yelp's category list (docs.developer.yelp.com, "All categories"): the names that have
# a comma in them, and the cuisines below "Restaurants".
_WITH_COMMA = (
    "Beer, Wine & Spirits",
    "Books, Mags, Music & Video",
    "Used, Vintage & Consignment",
    "Wills, Trusts, & Probates",
)
_SEPARATOR = re.compile(rf"({'|'.join(map(re.escape, _WITH_COMMA))})(?=,|\s*$)|,")
_CUISINES = frozenset(
    name.strip()
    for name in """
        Afghan; African; American (New); American (Traditional); Arabic; Argentine; Armenian;
        Asian Fusion; Australian; Austrian; Bangladeshi; Basque; Belgian; Brazilian; British;
        Bulgarian; Burmese; Cajun/Creole; Cambodian; Cantonese; Caribbean; Catalan; Chinese;
        Colombian; Cuban; Czech; Dominican; Egyptian; Ethiopian; Filipino; French; Georgian; German;
        Greek; Guamanian; Haitian; Halal; Hawaiian; Himalayan/Nepalese; Honduran; Hungarian; Indian;
        Indonesian; Irish; Italian; Japanese; Korean; Kosher; Laotian; Latin American; Lebanese;
        Malaysian; Mediterranean; Mexican; Middle Eastern; Modern European; Mongolian; Moroccan;
        Nicaraguan; Pakistani; Pan Asian; Persian/Iranian; Peruvian; Polish; Polynesian; Portuguese;
        Puerto Rican; Russian; Salvadoran; Scandinavian; Scottish; Senegalese; Serbian;
        Shanghainese; Sicilian; Singaporean; Slovakian; South African; Southern; Spanish;
        Sri Lankan; Syrian; Szechuan; Taiwanese; Tex-Mex; Thai; Trinidadian; Turkish; Tuscan;
        Ukrainian; Uzbek; Vegan; Vegetarian; Venezuelan; Vietnamese
    """.split(";")
)


def category_names(listed: str) -> list[str]:
    """Return the categories of a comma-separated list, in order, each once."""
    pieces = (piece.strip() for piece in _SEPARATOR.split(listed) if piece)
    return list(dict.fromkeys(piece for piece in pieces if piece))


def category_words(name: str, *, among: list[str]) -> str:
    """Return a category as a line; a cuisine beside "Restaurants" is a kind of restaurant."""
    is_cuisine = name in _CUISINES and "Restaurants" in among
    return f"category: {name} restaurant" if is_cuisine else f"category: {name}"
