from hypothesis import given
from hypothesis import strategies as st

from ragmend.text.names import name_stem, names, opening_words
from ragmend.text.words import words


def spelled(text):
    return [text[name.start : name.end] for name in names(text)]


@given(st.text(alphabet=st.characters(codec="utf-8")))
def test_no_text_raises_and_names_are_ordered_exact_spans(text):
    position = 0
    for name in names(text):
        assert position <= name.start < name.end <= len(text)
        assert name.words[0].start == name.start
        assert name.words[-1].end == name.end
        position = name.end


@given(st.text(alphabet="AaBb .\n'-"))
def test_words_given_or_not_the_names_are_the_same(text):
    assert names(text, found=words(text)) == names(text)


def test_a_common_word_at_the_start_of_a_sentence_is_no_name():
    assert spelled("Customers love it. Public health matters.\nPreheat it. 1. Stir.") == []
    assert spelled('He said: "Nothing helps." - Bake it') == []


def test_a_name_at_the_start_of_a_sentence_counts_with_other_evidence():
    assert spelled("Paul Kruse said so.") == ["Paul Kruse"]
    assert spelled("CDC found it.") == ["CDC"]
    assert spelled("Paris is old. They like Paris.") == ["Paris", "Paris"]


def test_a_name_inside_a_sentence_is_found_with_its_small_words():
    assert spelled("the Bank of America and the University of the West Indies") == [
        "Bank of America",
        "University of the West Indies",
    ]


def test_commas_and_stops_end_a_name():
    assert spelled("in Broken Arrow, Oklahoma, and Yelp. Yelp said") == [
        "Broken Arrow",
        "Oklahoma",
        "Yelp",
        "Yelp",
    ]


def test_a_title_belongs_to_its_name_and_ends_no_sentence():
    assert spelled("we saw Dr. Jones there") == ["Dr. Jones"]
    assert spelled("ask Mr. Smith") == ["Mr. Smith"]


def test_a_courtesy_is_no_word_of_a_name():
    for text in ("ask Mr. Smith", "ask Mrs Smith", "Ms. Smith asked"):
        assert [[word.norm for word in name.words] for name in names(text)] == [["smith"]]
    assert [word.norm for word in names("ask Dr. Smith")[0].words] == ["dr", "smith"]
    assert spelled("dear Mr. or Mrs., sign here") == []


def test_months_and_week_days_are_no_names():
    assert spelled("it opens on Mondays in March") == []


def test_function_words_are_no_names_even_in_capitals():
    assert spelled("and However the") == []
    assert spelled("so In Santa Barbara") == ["Santa Barbara"]


def test_pointing_into_the_source_names_nothing():
    assert spelled("as said (Passage 2, Step 1), and in the Summary") == []


def test_opening_words_are_what_a_sentence_begins_with_and_no_name_has():
    text = "Smith met her. Paul Kruse said: The end. Diners wept"
    assert [word.norm for word in opening_words(text)] == ["smith", "diners"]


def test_accents_do_not_make_another_name():
    stems = [[name_stem(word) for word in words(text)] for text in ("José Núñez", "Jose Nunez")]
    assert stems[0] == stems[1]


def test_an_article_joins_a_name_only_behind_of():
    assert spelled("You can Visit the Big Buddha") == ["Visit", "Big Buddha"]
    assert spelled("the Lord of the Rings") == ["Lord of the Rings"]


def test_a_middle_initial_does_not_cut_a_name():
    assert spelled("we saw John F. Kennedy and J. K. Rowling") == ["John F. Kennedy", "Rowling"]


def test_months_behind_a_capital_are_surnames_but_not_behind_a_preposition():
    assert spelled("They met Theresa May. In May it rained, on Monday May 5 too.") == [
        "Theresa May"
    ]


def test_brands_and_numerals_are_names_and_the_pronoun_is_none():
    assert spelled("his iPhone, in World War I, when I met Malcolm X") == [
        "iPhone",
        "World War I",
        "Malcolm X",
    ]


def test_capitals_alone_are_told():
    (name,) = names("the CDC Director")
    assert name.capitals == {"cdc"}


def test_titles_in_short_are_titles_in_full():
    stems = [[name_stem(word) for word in words(text)] for text in ("Dr Holt", "Doctor Holt")]
    assert stems[0] == stems[1]
