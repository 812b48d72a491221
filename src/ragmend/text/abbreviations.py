"""English abbreviations by what may follow their full stop, and words that open sentences.

All are lower case and without the last stop. An abbreviation that is also a common word
("no", "in", "sun", "sat", "wed", "art") is listed only where a digit follows, if at all.
"""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NEVER_LAST = _words(
    """dr mr mrs ms mx prof gov sen rep gen sgt capt lt col maj cmdr adm rev hon pres supt det
    atty messrs mme mlle mt vs e.g i.e a.k.a cf viz approx incl excl subsp spp"""
)
"""Followed by what they belong to: no sentence ends there."""

LAST_BEFORE_A_STARTER = _words(
    """st ft inc ltd co corp llc jr sr bros ave blvd rd hwy ln pkwy dept univ assn al
    jan feb mar apr jun jul aug sep sept oct nov dec
    tbsp tbsps tsp tsps oz lb lbs pkg qt pt gal"""
)
"""May end a sentence; they do only before a word of `SENTENCE_STARTERS`."""

NEVER_BEFORE_A_DIGIT = _words(
    """no nos vol vols p pp fig figs ch sec sect art ver approx op ext ste apt rm ca c est
    mon tue tues thu thurs fri jan feb mar apr jun jul aug sep sept oct nov dec
    ft lb lbs hr hrs"""
)
"""Units among them are mostly followed by a smaller one: "5 ft. 10 in."."""

NEVER_BEFORE_LOWER_CASE = _words(
    """tbsp tbsps tsps mins secs misc temp dept govt intl natl assn univ corp dist equiv prep
    approx incl excl subsp bros pkwy blvd sept capt prof messrs supt cont assoc corp"""
)
"""Lower-case words of four letters or more that do not end a sentence before lower case."""

AFTER_A_CLOCK = _words(
    """ET EDT EST PT PDT PST CT CDT CST MT MDT MST GMT UTC BST CET IST Eastern Pacific Central
    Mountain Monday Tuesday Wednesday Thursday Friday Saturday Sunday Mondays Tuesdays
    Wednesdays Thursdays Fridays Saturdays Sundays Mon Tue Tues Wed Thu Thurs Fri Sat Sun
    January February March April May June July August September October November December
    Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec"""
)
"""Go on after "p.m."; any other capital there begins a sentence."""

BRANDS_WITH_A_MARK = frozenset({"yahoo", "jeopardy", "oklahoma", "yum"})
"""Names written with an exclamation mark."""

SENTENCE_STARTERS = _words(
    """The This That These Those There Then Thus Therefore It Its It's He He's His She She's Her
    They They're Their We We're Our I I'm I've You You're Your My Here Here's A An In On At For
    From With By To As If When While Although Though However But And So Or Also Additionally
    Moreover Furthermore Overall According After Before Since During Despite Because Once Until
    Another Other Others Some Many Most All Both Each Every Several One Two Three No Not None
    What Who Whose How Where Why Which Is Are Was Were Has Have Do Does Did Can Could Would
    Should Please Customers Customer Reviewers Reviews Reviewer Finally Next Later Now Today
    Yesterday Meanwhile Instead Unfortunately Fortunately Based Known Located Passage Passages
    Nevertheless Nonetheless Still Even Only Such Let's That's There's Follow Use
    Add Stir Mix Bake Heat Remove Pour Combine Whisk Serve"""
)
