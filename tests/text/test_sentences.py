"""Sentence boundaries: worked cases and properties on arbitrary text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmend.text.sentences import sentence_spans

# Each text is written with | where a sentence must end; the bar is taken out before splitting.
ONE_LINE = [
    "He left. |She stayed.",
    "He came. |The last one has no stop",
    "It cost $3.5 million at U.S. banks. |Nobody paid 4.5% of it.",
    "Dr. Jones met Mr. Smith and Sen. Hale. |They spoke.",
    "J.B. Gray and William A. Stone Sr. described it. |It rained.",
    "Franklin D. Roosevelt signed it. |The U.S. Senate agreed, as did the U.S. |The rest did not.",
    "Open at 5 p.m. on Monday, or 8 p.m. ET. |Closes at 9 p.m. |Guests leave then.",
    "Hours are 9:0-22:30 today. |Write to a.b@c.org or see www.d.org/e.html. |Done.",
    "Bake at 350 degrees F. |Season it. |Bake at 180° C. |Serve.",
    "It has Vitamins A, D, E, and K. |Fats help.",
    "The notes are A and C. |Play them. |World War I. |The end.",
    "See p. 12, No. 5 and fig. 3. |No. |That is wrong.",
    "Hill et al. (2010) found it. |Age: Hill et al. say so.",
    "She ran... and ran. |He stopped... |The end.",
    "Well... I never. |So it is… |Or not.",
    'She asked "Why? How?" and left. |He said "No. Never." |They agreed.',
    '"We went home. |It was late." |Then it rained.',
    '"I love it. Really?" she asked. |Yes.',
    'The answer to "What is it?": a dog. |Is it "hot"? |No.',
    "It fell (see above. Or below) and broke. |(It was old. |It was thin.) |We wept.",
    "Fill the jar. (Passage 1) |Close it (Passage 2). |Shake it. [3]",
    "Shake it. |(He never did.) |Stop.",
    "Follow these steps: 1. Heat it. |2. Stir it. |3. Eat.",
    "for no good reasons!!!! |Would return!! |Never?! |Yes",
    "effect.d 1554, finding. |It is old.",
    "So good.|The food was hot.|Click on it",
    "x.Name = y.Name holds. |Read file.txt or node.js first. |Go.",
    "very slow service. |we will return. |approx. four of them came",
    "今日は暑い。|明日は寒い！|本当？",
    "Great! 🎉 🏞️ |Come again. 🎉",
    "Loved it :) The (new) menu is good. :(",
    "Loved it! :) |The menu is good.",
    "&ldquo;It is&rdquo; over there. |&nbsp;However, it ends.",
    "The vote was 3-2. |128 members came.",
    "It came from the U.N. |It said no.",
    "He lives on State St. |The house is St. John Hall.",
    '5\'6" tall. |A 24" screen. |Both.',
    "R.I.C.E. - rest and ice. |A 1 p.m. - 2 p.m. visit.",
    "**Bold. |Still bold.** |It is **in the middle. Of it** here. |End.",
    "Use `a. B` here. |And *c. D* there.",
    "It has 5 sq ft (a few ft). |Guests came at 5 p.m. Friday's show.",
    "Bob, a.k.a. The Boss, ate 2 tbsp. Dijon mustard. |So did I. |Bob left.",
    "He wrote ‘It is. Or not’ and left. |The dogs' bowl. |It's 'new. Really.' |End.",
    "Step 2. Stir it. |It is step 2. |Stir it.",
    "「はい。いいえ。」と言った。|（昔。）|終わり。|他说：“好。走吧。”然后走了。",
    "هل ذهب؟ |نعم. |عاد. |यह है। |वह है।",
    "Great!🎉 |Come. 👨🏽\u200d👩🏽\u200d👧🏽 |Go.\u200b |Yes.",
    'It is old. |--- "It is. |It was."',
]

SEVERAL_LINES = [
    "One line\n|Another line\n\n|A third",
    "It was wrapped\nat this point. |Yes",
    "It ended.\n|then lower case",
    "A colon:\n|then lower case",
    "A wrap (of the\r\nother kind) is one\n|Not this",
    "a marker\n|b) is no wrap",
    "blank lines\n \n|do end",
    "by U+2028\u2028|Line\x85|Next\u2029|Last",
]


def pieces(text):
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize("marked", ONE_LINE + SEVERAL_LINES)
def test_sentences_end_where_a_reader_ends_them(marked):
    expected = [part.strip() for part in marked.split("|")]
    assert pieces(marked.replace("|", "")) == expected


@pytest.mark.parametrize("text", ["", " ", "\n\n", "\u2028 \t"])
def test_white_space_has_no_sentences(text):
    assert sentence_spans(text) == []


def test_text_without_a_word_is_covered_too():
    assert pieces("...") == ["..."]
    assert pieces("!!! Stop it.") == ["!!! Stop it."]


PARTS = st.one_of(
    st.sampled_from(
        [
            "The food",
            " was ",
            "good",
            ". ",
            ".",
            "!",
            "? ",
            "…",
            "\n",
            "\n\n",
            "\r\n",
            "\u2028",
            '"',
        ]
    ),
    st.sampled_from(
        ["(", ")", "[", "**", "*", "`", "“", "”", "U.S. ", "Dr. ", "p.m. ", "3.5 ", "1. ", "A. "]
    ),
    st.sampled_from(
        ["the ", "and ", ", ", "; ", ": ", "- ", "é", "e\u0301", "🎉", "。", "\x00", " ", "&nbsp;"]
    ),
)
TEXTS = st.one_of(st.text(), st.lists(PARTS, max_size=40).map("".join))


@given(TEXTS)
def test_spans_are_exact_ordered_trimmed_and_cover_everything_but_white_space(text):
    end_before = 0
    for start, end in sentence_spans(text):
        assert end_before <= start < end <= len(text)
        assert not text[end_before:start].strip()
        assert text[start:end] == text[start:end].strip()
        end_before = end
    assert not text[end_before:].strip()


@given(TEXTS)
def test_every_sentence_has_a_word_unless_its_lines_have_none(text):
    for piece in pieces(text):
        if not any(map(str.isalnum, piece)):
            assert pieces(piece) == [piece]
