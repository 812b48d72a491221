"""Which sentences are two claims: coordinated clauses with a subject and verb each."""

import pytest

from ragmend.repair.splitting.claims import split_claims

# The bar stands where a claim ends; connecting punctuation before it is no claim's.
TWO = [
    "The hall is old, | and it was repaired in 1990.",
    "The hall has no lift, | but guests can use the ramp.",
    "The hall was full, | so they left early.",
    "The north gate is open, | while the south gate remains closed.",
    "He was ill, | yet he played.",
    "It opens at 8:15 on Monday, | and the café opens at 9:30.",
    "In 2014, the club moved, | and in 2015, it won the cup.",
    "However, the bank was old, | and the shop was new.",
    "In summary, the bank was old, | and the shop was new.",
    "On the other hand, the bank was old, | but the shop was new.",
    "Unfortunately, the bar is full, | but the hall is empty.",
    "In 1990, the bank was old, | while in 2000, the shop was new.",
    "According to passage 1, it is old, | but according to passage 2, it is new.",
    "The bank was old, | but in 1990, the shop was new.",
    "Cost: Trains are cheap, | while planes are costly.",
    "Ann Hale, 32, is the mayor, | and Bob Dale leads the council.",
    "They sell tea, coffee, and cake, | and the shop is open daily.",
    "Passage 1 states that it is old, | while passage 2 says that it is new.",
    "Parking is limited, | and the staff don't help.",
    "The staff is kind; | the rooms are clean.",
    "The staff is kind; | however, the rooms are not clean.",
    "It's cheap, | and they're fast.",
    "Dogs are loyal, | but others aren't.",
    "When it is hot, the bar is full, | and when it rains, it is empty.",
    "In May, the bar was full, | and in June, it was empty.",
    "The hall is red; | it was built by Acme Inc.",
]

ONE = [
    "She was arrested and could face prison.",
    "She was arrested, and could face prison.",
    "They sell tea, coffee, and cake.",
    "Tea, coffee, and cake are sold here.",
    "Some herbs such as thyme, mint, and sage have been used.",
    "The difference between the cat, the dog, and the fox is small.",
    "The man who has the cat, and the dog, is here.",
    "Officials said the bridge was closed, and the road was flooded.",
    "It is said that the bridge was closed, and the road was flooded.",
    "One guest complained that it was cold, and the food was late.",
    "He left because it was late, and the food was cold.",
    "When it is hot, and the sun is out, we stay in.",
    "Preheat the oven, and then place the dish in it.",
    "Make sure the pan is hot, and the oil is ready.",
    "It is cheap, but make sure the box is whole.",
    "Cook it for an hour, or until the meat is done.",
    "Open it, so that the air can flow.",
    "He praised the staff, the rooms, and the food served by them.",
    "They left early, while waiting for the bus.",
    "He wrote (it was late, and the shop was closed) and left.",
    'He wrote "it was late, and the shop was closed" and left.',
    "Hours: Monday is 9 to 5; Tuesday 9 to 4.",
    "If it is hot, the bar is full, and the pool is empty.",
    "Unless you pay, you can wait, or you can go.",
    "The bridge closed and the council met.",
    "“It is hot, and it is dry,” he said.",
    "**It is hot, and it is dry** here.",
    "They are taller than most, and have had several jobs.",
    "Is it hot, or is it cold?",
    "It can be hurt by falls, blows, and other accidents can happen.",
    "You can call the desk, or you can write to it.",
    "You must pay on time, or you will be fined.",
    "You should book early, or the tables will be taken.",
    "Pay on time, or you will be fined.",
    "Either the door is shut, or the bell is broken.",
    "The door is shut; or the bell is broken.",
    "If you are late, the door is shut, but you can ring the bell.",
    "In 1990, the bank was old, and the shop was new.",
    "In 1990 the bank was old, and the shop was new.",
    "In 1990, the bank was old; the shop was new.",
    "Before 2010, the bank was old, so the shop was new.",
    "On weekdays, the bar is full, but the hall is empty.",
    "According to Passage 2, it is old, and it is new.",
    "For type 1 diabetes, the drug is safe, but it is costly.",
    "Allegedly, the bank was old, and the shop was new.",
    "Usually the bar is full, but the hall is empty.",
    "In 1990, the bank was old, and however, the shop was new.",
    "It is chosen by weight, level, and the snow they will be skiing in.",
]


@pytest.mark.parametrize("marked", TWO)
def test_two_full_clauses_are_two_claims(marked):
    expected = [part.strip().rstrip(",;") for part in marked.split("|")]
    claims = split_claims(marked.replace("| ", ""), record_id="r")
    assert [claim.text for claim in claims] == expected


@pytest.mark.parametrize("sentence", ONE)
def test_lists_fragments_and_clauses_that_hang_on_others_stay_one_claim(sentence):
    assert [claim.text for claim in split_claims(sentence, record_id="r")] == [sentence]
