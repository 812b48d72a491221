"""Claims of running prose: where sentences end, by subject."""

import pytest

from ragmend.repair.splitting.claims import split_claims

# By subject: an answer, and its claims as exact text.
CASES = {
    "abbreviations": [
        ("Dr. Hale met Prof. Lee. They spoke.", ["Dr. Hale met Prof. Lee.", "They spoke."]),
        ("He works at Acme Inc. The firm is old.", ["He works at Acme Inc.", "The firm is old."]),
        ("It is large (5 sq ft). Guests love it.", ["It is large (5 sq ft).", "Guests love it."]),
        ("Acme Inc. Chairman Bob Hale left.", ["Acme Inc. Chairman Bob Hale left."]),
        ("Hale vs. The Crown was heard.", ["Hale vs. The Crown was heard."]),
        (
            "Beans, rice, etc. are cheap. Bread, etc. The rest is not.",
            ["Beans, rice, etc. are cheap.", "Bread, etc.", "The rest is not."],
        ),
        ("Bob Hale, a.k.a. The Boss, left.", ["Bob Hale, a.k.a. The Boss, left."]),
        (
            "She holds a Ph.D. She teaches in the U.S. Navy.",
            ["She holds a Ph.D.", "She teaches in the U.S. Navy."],
        ),
        (
            "Washington, D.C. is hot. So is St. Louis.",
            ["Washington, D.C. is hot.", "So is St. Louis."],
        ),
        ("Add 2 tbsp. Dijon mustard. Stir it.", ["Add 2 tbsp. Dijon mustard.", "Stir it."]),
        ("Add 2 tbsp. Stir it well.", ["Add 2 tbsp.", "Stir it well."]),
        ("It is 5 ft. 10 in. tall. He is old.", ["It is 5 ft. 10 in. tall.", "He is old."]),
        ("It is 5 ft. 10 in. The bed is not.", ["It is 5 ft. 10 in.", "The bed is not."]),
        ("It weighs 5 lb. 3 oz. and fits.", ["It weighs 5 lb. 3 oz. and fits."]),
        ("It is 5 ft. The bed is 6 ft. long.", ["It is 5 ft.", "The bed is 6 ft. long."]),
        ("Bake for 20 min. Remove it.", ["Bake for 20 min.", "Remove it."]),
        ("The U.N. said so. The E.U. did not.", ["The U.N. said so.", "The E.U. did not."]),
    ],
    "initials": [
        ("J. K. Rowling wrote it. It sold.", ["J. K. Rowling wrote it.", "It sold."]),
        (
            "J.K. Rowling and George R. R. Martin met.",
            ["J.K. Rowling and George R. R. Martin met."],
        ),
        (
            "It was by C. S. Lewis. E. B. White read it.",
            ["It was by C. S. Lewis.", "E. B. White read it."],
        ),
        ("Take vitamin C. Oranges have it.", ["Take vitamin C.", "Oranges have it."]),
        ("He left, and so did I. Bob stayed.", ["He left", "and so did I.", "Bob stayed."]),
        ("The plan is B. It works.", ["The plan is B.", "It works."]),
    ],
    "Jr.": [
        (
            "Robert Downey Jr. starred in it. It sold.",
            ["Robert Downey Jr. starred in it.", "It sold."],
        ),
        (
            "It was signed by John F. Hale Jr. The law holds.",
            ["It was signed by John F. Hale Jr.", "The law holds."],
        ),
        (
            "Ann Hale Sr. Lee met Bob Dale Jr. and left.",
            ["Ann Hale Sr. Lee met Bob Dale Jr. and left."],
        ),
        (
            "Martin Luther King, Jr. Day is in January.",
            ["Martin Luther King, Jr. Day is in January."],
        ),
    ],
    "et al.": [
        (
            "Hill et al. found it. Lee et al. (2010) agreed.",
            ["Hill et al. found it.", "Lee et al. (2010) agreed."],
        ),
        (
            "It was found by Hill et al. The rest is new.",
            ["It was found by Hill et al.", "The rest is new."],
        ),
        ("See Hill et al., 2010. Go.", ["See Hill et al., 2010.", "Go."]),
    ],
    "e.g.": [
        ("Use herbs, e.g. Thai basil, daily.", ["Use herbs, e.g. Thai basil, daily."]),
        (
            "Use herbs (e.g., basil, i.e. The green one). Stir.",
            ["Use herbs (e.g., basil, i.e. The green one).", "Stir."],
        ),
        (
            "Some herbs, e.g. basil, are cheap. Some, viz. Saffron, are not.",
            ["Some herbs, e.g. basil, are cheap.", "Some, viz. Saffron, are not."],
        ),
    ],
    "No. 5": [
        (
            "It is No. 5 on the list. No. That is wrong.",
            ["It is No. 5 on the list.", "No.", "That is wrong."],
        ),
        (
            "See vol. 3, no. 12, pp. 5-9 and Fig. 2. Then stop.",
            ["See vol. 3, no. 12, pp. 5-9 and Fig. 2.", "Then stop."],
        ),
        ("Is it old? No. 5 people said so.", ["Is it old?", "No. 5 people said so."]),
        ("Nos. 3 and 4 won. Rm. 12 is free.", ["Nos. 3 and 4 won.", "Rm. 12 is free."]),
    ],
    "decimals": [
        ("It is 3.5 km long. It is .5 km wide.", ["It is 3.5 km long.", "It is .5 km wide."]),
        ("It grew by 2. 5 people left.", ["It grew by 2.", "5 people left."]),
        (
            "Version 1.2.3 is out. Get 2.0. It is free.",
            ["Version 1.2.3 is out.", "Get 2.0.", "It is free."],
        ),
        ("It has 1,234.56 kg. The rest is 0.", ["It has 1,234.56 kg.", "The rest is 0."]),
        ("It is rated 4.5. Guests love it.", ["It is rated 4.5.", "Guests love it."]),
    ],
    "money": [
        (
            "It cost $3.5 million. He paid £2.50. We paid €3.",
            ["It cost $3.5 million.", "He paid £2.50.", "We paid €3."],
        ),
        ("It costs $5. $3 for kids.", ["It costs $5.", "$3 for kids."]),
        ("It rose to US$1.2bn. Nobody paid.", ["It rose to US$1.2bn.", "Nobody paid."]),
        ("Pay 5.000,50 €. Then go.", ["Pay 5.000,50 €.", "Then go."]),
    ],
    "percentages": [
        (
            "It grew 4.5%. The rest fell 0.5 %. Prices rose.",
            ["It grew 4.5%.", "The rest fell 0.5 %.", "Prices rose."],
        ),
        ("Some 12.5 percent left. 80% stayed.", ["Some 12.5 percent left.", "80% stayed."]),
        ("It is 50%. 30% is mine.", ["It is 50%.", "30% is mine."]),
    ],
    "times": [
        ("Open 9:0-22:30. Closed on Sunday.", ["Open 9:0-22:30.", "Closed on Sunday."]),
        ("It opens at 5 p.m. on Monday.", ["It opens at 5 p.m. on Monday."]),
        (
            "It opens at 5 p.m. The next bar opens at 6 a.m. Monday.",
            ["It opens at 5 p.m.", "The next bar opens at 6 a.m. Monday."],
        ),
        ("Come at 5 p.m. Friday's show is off.", ["Come at 5 p.m. Friday's show is off."]),
        (
            "Open 10:00 a.m. - 9:00 p.m. daily. Walk in.",
            ["Open 10:00 a.m. - 9:00 p.m. daily.", "Walk in."],
        ),
        (
            "It ends at 5 P.M. Guests leave. It ends at 5 PM. They go.",
            ["It ends at 5 P.M.", "Guests leave.", "It ends at 5 PM.", "They go."],
        ),
        (
            "Open from 8 a.m. EST to 5 p.m. EST. Call us.",
            ["Open from 8 a.m. EST to 5 p.m. EST.", "Call us."],
        ),
        (
            "It is open 9:0-17:0, and it is closed on Sunday.",
            ["It is open 9:0-17:0", "and it is closed on Sunday."],
        ),
    ],
    "dates": [
        (
            "It opened on Jan. 5, 2014. It closed in Sept. 2015.",
            ["It opened on Jan. 5, 2014.", "It closed in Sept. 2015."],
        ),
        (
            "He was born on 12.05.1990. She was born on 5/6/91.",
            ["He was born on 12.05.1990.", "She was born on 5/6/91."],
        ),
        ("It began in 2014. 128 people came.", ["It began in 2014.", "128 people came."]),
        ("It fell on May 5. June 3 was dry.", ["It fell on May 5.", "June 3 was dry."]),
        (
            "It was signed on 2015-03-04. Mon. 5 was free.",
            ["It was signed on 2015-03-04.", "Mon. 5 was free."],
        ),
    ],
    "URLs": [
        ("See https://a.org/b.c?d=e. Go.", ["See https://a.org/b.c?d=e.", "Go."]),
        (
            "Is it at www.a.org? Yes. It is at http://a.org/x_(y).html!",
            ["Is it at www.a.org?", "Yes.", "It is at http://a.org/x_(y).html!"],
        ),
        (
            "Read [the page](https://a.org/x.Y?z). Then go.",
            ["Read [the page](https://a.org/x.Y?z).", "Then go."],
        ),
        (
            "See <https://a.org/b.c>. Booking.com is down.",
            ["See <https://a.org/b.c>.", "Booking.com is down."],
        ),
        ("Go to a.org/b!c#D.e now.", ["Go to a.org/b!c#D.e now."]),
    ],
    "e-mail": [
        ("Write to j.k@a.org. They answer.", ["Write to j.k@a.org.", "They answer."]),
        ("Mail First.Last@Firm.Com or call.", ["Mail First.Last@Firm.Com or call."]),
        ("Contact: <ann.hale@x.co.uk>. Thanks!", ["Contact: <ann.hale@x.co.uk>.", "Thanks!"]),
    ],
    "file names": [
        (
            "Open file.txt. Then read README.md and main.py.",
            ["Open file.txt.", "Then read README.md and main.py."],
        ),
        (
            "Use node.js. It is fast. The .env file is not.",
            ["Use node.js.", "It is fast.", "The .env file is not."],
        ),
        (
            "It is in C:\\Dir\\Data.Old\\x.csv. Copy it.",
            ["It is in C:\\Dir\\Data.Old\\x.csv.", "Copy it."],
        ),
        ("Run ./build.sh. Use `a.B(c). D` twice.", ["Run ./build.sh.", "Use `a.B(c). D` twice."]),
    ],
    "ellipses": [
        ("Well... it is so. He ran... and ran.", ["Well... it is so.", "He ran... and ran."]),
        ("He left... She stayed… They wept.", ["He left...", "She stayed…", "They wept."]),
        ("It goes on…", ["It goes on…"]),
        ("…and it was so. ...Or not.", ["…and it was so.", "...Or not."]),
        (
            "The end . . . of it is near. It is . . . here.",
            ["The end . . . of it is near.", "It is . . . here."],
        ),
        (
            "He said “I never…” and left. She (so they say…) wept.",
            ["He said “I never…” and left.", "She (so they say…) wept."],
        ),
        ("It is so.... The rest is not.", ["It is so....", "The rest is not."]),
    ],
    "quotes": [
        ('He said "It is old." She left.', ['He said "It is old."', "She left."]),
        (
            'He said, "It is old," and left. So it is.',
            ['He said, "It is old," and left.', "So it is."],
        ),
        (
            "He said “It is. It was.” and left. “No.”",
            ["He said “It is. It was.” and left.", "“No.”"],
        ),
        ("He said ‘It is. It was.’ and left.", ["He said ‘It is. It was.’ and left."]),
        ("He said 'It is. It was.' and left.", ["He said 'It is. It was.' and left."]),
        ("'It is one. It is two.' End.", ["It is one.", "It is two.", "End."]),
        (
            "The '90s were old. The dogs' bowl is 'new'.",
            ["The '90s were old.", "The dogs' bowl is 'new'."],
        ),
        ("'Tis old. The dogs' bowl is not.", ["'Tis old.", "The dogs' bowl is not."]),
        (
            "He said «Oui. Non.» and left. „Ja. Nein.“ is all.",
            ["He said «Oui. Non.» and left.", "„Ja. Nein.“ is all."],
        ),
        ('"It is one. It is two."', ["It is one.", "It is two."]),
        ('He called it "so-called". She did not.', ['He called it "so-called".', "She did not."]),
        ('🎉 "It is one. It is two." End.', ["It is one.", "It is two.", "End."]),
        ('--- "It is one. It is two." End.', ["It is one.", "It is two.", "End."]),
        ('---"It is one. It is two." End.', ["It is one.", "It is two.", "End."]),
        (
            'It is old. --- "It is one. It is two." End.',
            ["It is old.", "It is one.", "It is two.", "End."],
        ),
        ('"It is one. It is two." 🎉 End.', ["It is one.", "It is two.", "End."]),
        ('"It is one. It is two."🎉\nEnd.', ["It is one.", "It is two.", "End."]),
    ],
    "brackets": [
        ("It is so. (It was not.) Stop.", ["It is so.", "(It was not.)", "Stop."]),
        (
            "It is so. (It is one. It is two.) Stop.",
            ["It is so.", "It is one.", "It is two.", "Stop."],
        ),
        ("It fell (see above. Or below) and broke.", ["It fell (see above. Or below) and broke."]),
        (
            "It is so (really!). It is (in 1990). End.",
            ["It is so (really!).", "It is (in 1990).", "End."],
        ),
        ("[Note: It is old. It is new.] End.", ["Note: It is old.", "It is new.", "End."]),
        ("It is hot (and it is dry, but we stay).", ["It is hot (and it is dry, but we stay)."]),
    ],
    "colon-introduced lists": [
        ("They sell: tea, coffee, and cake.", ["They sell: tea, coffee, and cake."]),
        (
            "The hall has: (a) a bar, (b) a pool, and (c) a gym.",
            ["The hall has: (a) a bar, (b) a pool, and (c) a gym."],
        ),
        ("The hall has:\n- a bar\n- a pool", ["The hall has:", "a bar", "a pool"]),
        (
            "The hall has:\na bar,\na pool,\nand a gym.",
            ["The hall has:", "a bar,\na pool,\nand a gym."],
        ),
        (
            "Ingredients: salt, oil. Steps: heat, eat.",
            ["Ingredients: salt, oil.", "Steps: heat, eat."],
        ),
    ],
    "dialogue": [
        (
            '"Where is it?" she asked. "I do not know," he said. "Ask Bob."',
            ['"Where is it?" she asked.', '"I do not know," he said.', '"Ask Bob."'],
        ),
        ('"Stop!" he cried. "Never!"', ['"Stop!" he cried.', '"Never!"']),
        ("Ann: Where is it?\nBob: Here. Look!", ["Ann: Where is it?", "Bob: Here.", "Look!"]),
        ("— Where is it?\n— Here.", ["Where is it?", "Here."]),
        (
            "“I do,” she said, “and I always will.” He left.",
            ["“I do,” she said, “and I always will.”", "He left."],
        ),
    ],
    "a missing last stop": [
        ("It is so. And the last is lo", ["It is so.", "And the last is lo"]),
        ('It is so. He said "it', ["It is so.", 'He said "it']),
        ("It is so. And the last is (not", ["It is so.", "And the last is (not"]),
        ("- one.\n- tw", ["one.", "tw"]),
    ],
    "Chinese and Japanese": [
        ("今日は暑い。明日は寒い！本当？", ["今日は暑い。", "明日は寒い！", "本当？"]),
        (
            "「はい。いいえ。」と彼は言った。終わり。",
            ["「はい。いいえ。」と彼は言った。", "終わり。"],
        ),
        (
            "他说：“好。走吧。”然后走了。她哭了……后来笑了。",
            ["他说：“好。走吧。”然后走了。", "她哭了……后来笑了。"],
        ),
        ("暑い！？本当。（昔は寒い。）终", ["暑い！？", "本当。", "（昔は寒い。）", "终"]),
        (
            "Tokyo is big. 東京は大きい。It is old.",
            ["Tokyo is big.", "東京は大きい。", "It is old."],
        ),
        ("ｱｲｳ｡ｴｵ｡", ["ｱｲｳ｡", "ｴｵ｡"]),
    ],
    "Arabic, Urdu, Hindi": [
        ("هل ذهب؟ نعم. عاد إلى البيت.", ["هل ذهب؟", "نعم.", "عاد إلى البيت."]),
        ("یہ پرانا ہے۔ وہ نیا ہے۔", ["یہ پرانا ہے۔", "وہ نیا ہے۔"]),
        ("قال «نعم. لا.» وذهب.", ["قال «نعم. لا.» وذهب."]),
        ("यह पुराना है। वह नया है॥", ["यह पुराना है।", "वह नया है॥"]),
    ],
    "emoji with joiners": [
        ("Great! 🎉 Come.", ["Great! 🎉", "Come."]),
        (
            "Family day. 👨\u200d👩\u200d👧\u200d👦 Come.",
            ["Family day. 👨\u200d👩\u200d👧\u200d👦", "Come."],
        ),
        (
            "Family day. 👨🏽\u200d👩🏽\u200d👧🏽\u200d👦🏽 Come.",
            ["Family day. 👨🏽\u200d👩🏽\u200d👧🏽\u200d👦🏽", "Come."],
        ),
        ("Loved it. ❤\ufe0f 🇫🇷 Paris won.", ["Loved it. ❤\ufe0f 🇫🇷", "Paris won."]),
        (
            "Go. 🏴\U000e0067\U000e0062\U000e007f Yes.",
            ["Go. 🏴\U000e0067\U000e0062\U000e007f", "Yes."],
        ),
        ('It is "one. 🎉" It is two.', ['It is "one. 🎉"', "It is two."]),
        ('It is "one.🎉" It is two.', ['It is "one.🎉"', "It is two."]),
        ('He said "go. 🎉 Now" and left.', ['He said "go. 🎉 Now" and left.']),
        ('Great! 🎉 "Come," he said.', ["Great! 🎉", '"Come," he said.']),
        ("Great!🎉 Come.🎉🎉 Go.", ["Great!🎉", "Come.🎉🎉", "Go."]),
        ("✅ Free WiFi\n❌ no parking", ["✅ Free WiFi", "❌ no parking"]),
        ("1\ufe0f⃣ Heat it.\n2\ufe0f⃣ Stir it.", ["1\ufe0f⃣ Heat it.", "2\ufe0f⃣ Stir it."]),
        ("I ❤\ufe0f it. You 👍🏽 it.", ["I ❤\ufe0f it.", "You 👍🏽 it."]),
        ("🎉\nParty\n👨\u200d👩\u200d👧", ["Party"]),
    ],
}

# What a reader would do, and the splitter does not: it keeps too much in one claim.
LIMITS = [
    (
        "Sales fell in Jan. Prices rose.",
        ["Sales fell in Jan.", "Prices rose."],
        "a month at the end",
    ),
    ("The firm is Acme Inc. Bob left.", ["The firm is Acme Inc.", "Bob left."], "before a name"),
]


def texts(answer):
    return [claim.text for claim in split_claims(answer, record_id="r")]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        pytest.param(*case, id=f"{subject} {number}")
        for subject, cases in CASES.items()
        for number, case in enumerate(cases, 1)
    ],
)
def test_sentences_become_claims(answer, expected):
    assert texts(answer) == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        pytest.param(answer, expected, marks=pytest.mark.xfail(strict=True, reason=reason))
        for answer, expected, reason in LIMITS
    ],
)
def test_known_limits_of_sentences(answer, expected):
    assert texts(answer) == expected
