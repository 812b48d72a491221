"""Words that decide where a claim may be cut, see `ragmend.repair.rewriting.cuts`.

Source: English grammar's closed classes, and what reading the cuts of RAGTruth's answers showed.
"""

from ragmend.text.verbs import AUXILIARIES
from ragmend.text.words import stem


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
LISTINGS = _listed("including featuring with plus especially particularly notably")
# Behind a comma they open a clause that explains or contrasts, never one that conditions.
ASIDES = _listed(
    "as because since although though while whereas but so despite due resulting depending"
)
ASIDE_SUBJECTS = _listed("it they he she this these there its their the his her")

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
    there these this those though through to toward towards under up upon very via what while
    with within yet also accused added calculated caused deal deals dealt considered defined
    determined measured seen appear appeared appears based belonged caught charged compared
    composed comprised connected convicted covered dedicated depend depended depends described
    devoted differ divided engaged equipped filled focus focused focuses followed go goes
    interact interacted interested inspired involved known limited linked lead leads led live
    lived lives located look looked looks made marked met originated participate participated
    placed range ranged ranges rated regarded related relied replaced result resulted results
    separated served serves situated specialize specialized specializes struck stem stemmed
    stems suffer suffered suffers surrounded ranked used viewed went work worked works brought
    take takes took taken put puts his her its our my your they he she it we i you him them not
    well back out down away off access addition agreement alternative amount approach attack
    attacks attention case charge charges collection combination comparison concern concerns
    conjunction connection contact contrast damage demand difference effect experience face fact
    factors favor favour focus freedom front impact increase interest issue issues lack level
    levels line need number order part place problem problems range reason reasons relation
    relationship response responsible role reputation search spite support terms things trouble
    use variety view way ways
    """
)

# What a statement can begin with before its main clause, up to a comma.
LEADS = PREPOSITIONS | _listed(
    """
    according although among as based behind beside besides between beyond compared despite given
    if into like once onto over situated through though throughout to under unlike until upon
    via when whenever whether while without
    """
)
CONDITIONS = _listed("although if once since though unless when whenever while")
CONNECTIVES = _listed(
    """
    accordingly additionally afterward afterwards alternatively also and besides but consequently
    eventually finally firstly first furthermore generally hence however importantly indeed
    initially instead lastly likewise meanwhile moreover namely nevertheless next nonetheless
    notably now or otherwise overall second secondly similarly so specifically still subsequently
    then thereafter therefore third thirdly thus typically ultimately unfortunately usually yes yet
    """
)
# An adverbial with one of these says something of its own, whatever follows.
FREE_LEADS = _listed("because due known located situated with")
# Verbs that open a request; nouns of the same spelling that open statements are left out.
IMPERATIVES = _listed(
    """
    add adjust allow apply arrange ask attach bake beat blend boil bring brush choose chop clean
    click close combine consider consult continue cook cool cover create cut determine dip discard
    discuss divide drain drizzle enter enjoy fill find flip fold follow garnish gather get give go
    grill heat hold insert keep lay leave let make marinate melt mix open peel place pour prepare
    preheat press pull push put read reduce reheat remember remove repeat replace return rinse roast
    roll rub scrape season seek select send serve set shake simmer slice soak spray spread sprinkle
    start stir store strain take test tie toss transfer trim try turn use wait wash whisk wipe wrap
    write
    """
)
ADJECTIVES = _listed(
    """
    active attentive authentic bad basic beautiful big black blue bright brown busy calm casual
    central cheap classic classy clean clear cold comfortable common cool courteous cozy creamy
    crisp crispy crowded decent deep dirty domestic dry durable easy efficient elegant excellent
    expensive fair fast fine firm flexible fresh friendly fun general gentle good gray great
    green happy hard healthy heavy helpful high hot huge indoor inexpensive informative intimate
    juicy kind knowledgeable large lively local long loud low mental modern moist natural nice
    noisy old open outdoor personal physical pleasant polite poor popular private prompt proper
    public purple quick quiet rapid red relaxed relaxing reliable rich romantic rude safe salty
    sensitive sharp short simple slow small smooth social soft solid sour special spicy stable
    strong stylish sweet tall tasty tender thick thin traditional trendy unique upscale warm
    weak welcoming wet wide young
    """
)
NO_ADJECTIVES = _listed(
    "alive archive detective table drive five give hive live motive native olive"
)
# They say how much or how well: without one, a statement says less.
INTENSIFIERS = _listed(
    """
    beautifully carefully completely consistently directly easily effectively efficiently evenly
    exceptionally extremely freely fully gently greatly highly immediately incredibly perfectly
    precisely promptly properly quickly readily regularly repeatedly securely significantly smoothly
    strongly successfully thoroughly tightly truly vigorously widely wonderfully
    """
)
# They praise or describe, and pick nothing out: without one, a noun means the same thing.
EPITHETS = _listed(
    """
    amazing authentic beautiful bold bustling charming comfortable cozy crucial decent
    delectable delicious delightful detailed diverse elegant essential excellent exceptional
    extensive fantastic flavorful friendly generous great impressive incredible inviting
    knowledgeable
    lively lovely memorable nice outstanding peaceful perfect pleasant popular powerful profound
    quaint rapid refreshing renowned rich rigorous serene spacious stunning sturdy stylish
    superb tasty trendy unforgettable unique upscale valuable vast vibrant vital warm welcoming wide
    wonderful
    """
)
# What two things are needed for: "a mix of a and b", "the difference between a and b".
PAIRING = _listed(
    """
    balance between blend combination combine combined combines compare compared comparison contrast
    difference differences mix mixed mixture pair relationship respectively together
    """
)
# Verbs and nouns that the infinitive behind them belongs to.
INFINITIVE_HOSTS = _listed(
    """
    ability able advice advise advised agreement allow allowed allowing allows aim aims appear
    appears approval ask asked asks attempt attempts authority call called calling calls
    capacity cause caused causes chance choice cost decision desire difficult duty easy effort
    efforts enable enabled enables encourage encouraged encourages expect expected expects
    failure force forced forces freedom goal have help helped helping helps hope important
    incentive instruct instructed intention invite invited key let license likely long need
    needed needs obligation offer offered offers opportunities opportunity option order ordered
    payment permission permit permits permitted place plan plans possible power prepare promise
    reason recommend recommended refusal refuse require required requires right seem seems
    something steps teach teaches tell tells tend tendency things time told tool tools try urge
    urged urges used want wants way ways willing willingness wish
    """
)
PURPOSES = _listed(
    """
    accommodate achieve add allow attract avoid boost build create cut develop enhance ensure
    facilitate foster get give grow help improve increase keep lower maintain make maximize minimize
    prevent promote protect provide raise reach reduce remove retain secure stop support sustain
    """
)
# Subject and verb may not be what they seem where one of these opens a clause of its own.
HANGING = RELATIVES | _listed("as because how if since that though what when whether while why")
REFERENCES = _listed("it them they then also there this that its their too")
MODALS = _listed("can cannot could did had may might must shall should will would")
# Behind a comma these go on with what stood before it.
NO_SUBJECTS = PREPOSITIONS | ASIDES | RELATIVES | LISTINGS | AUXILIARIES | _listed("and or such")
NO_PASTS = _listed("bleed breed exceed hundred indeed naked need proceed sacred speed succeed")
# How the verb of one subject reads that was of two.
SINGULAR_OF = {"are": "is", "were": "was", "have": "has", "do": "does"}
# "It equipped him with …": the phrase belongs to the verb.
WITH_HOSTS = _listed(
    """
    associate associated combine combined compare compared confuse confused equip equipped fill
    filled help helped mix mixed pair paired present presented provide provided replace replaced
    struggle struggled supply supplied
    """
)
# An epithet is all that such a noun says: "a great place".
VAGUE_NOUNS = _listed(
    """
    addition ambience ambiance atmosphere choice destination environment example experience idea
    option part place reputation setting spot thing time vibe way
    """
)
# What any business does, and what it does it with: they say nothing, even together.
EMPTY_STEMS = frozenset(
    stem(word)
    for word in _listed(
        """
        appear feature get give have include make offer provide receive seem serve
        business customer dish experience feedback food item meal menu number option place product
        range review reviewer selection service thing variety various
        """
    )
)
# Words that answers use whatever their source says. Source: the stems that most answers of
# RAGTruth's train split have and their source has not, without those that tell anything.
COMMONPLACES = frozenset(
    stem(word)
    for word in _listed(
        """
        additional additionally alternatively appear appropriate area aspect available certain
        complete considered consider crucial describe desired detailed different discuss ensure
        entire essential exact example explain factor find follow found general generally give help
        helpful important indicate individual instruction involve issue kind know known level likely
        main make making method multiple necessary need needed note number offer option outlined
        particular possible potential process proper properly range recommend related relevant
        remember required respective serve set several significant similar simple simply sort
        specific specifically state step suitable sure take taken thing time tip type typically
        usually variety various way work
        accept atmosphere dine establishment item locate operate product quality service software
        specialize value
        """
    )
)
