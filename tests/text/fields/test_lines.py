"""Worked cases: structured fields in words."""

import pytest

from ragmend.records import Source
from ragmend.text.fields.addresses import spelled_out
from ragmend.text.fields.categories import category_names
from ragmend.text.fragments import source_fragments

WEEK = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()


def fragments(fields):
    source = Source(source_id="d", task_type="Data2txt", fields=fields)
    return {part.fragment_id: part for part in source_fragments(source)}


def nested(path, value):
    for key in reversed(path.split(".")):
        value = {key: value}
    return value


def week(*hours):
    """Hours from Monday on; None leaves a day out."""
    return {day: value for day, value in zip(WEEK, hours, strict=False) if value is not None}


def derived_of(fields, path):
    """The texts of what is derived from a field, without what its values say themselves."""
    found = fragments(fields).values()
    return [p.text for p in found if p.path == path and p.fragment_id != f"f-{path}" and p.parts]


# What one value says.
VALUES = [
    ("name", "Tinker's", "name: Tinker's"),
    ("city", "Goleta", "city: Goleta"),
    ("postal_code", "93101", "postal code: 93101"),
    ("state", "CA", "state: CA (California)"),
    ("state", "California", "state: California (CA)"),
    ("state", "XX", "state: XX"),
    ("categories", "Burgers", "categories: Burgers"),
    ("is_open", 1, "open for business"),
    ("is_open", 0, "permanently closed"),
    ("business_stars", 3.5, "rated 3.5 stars"),
    ("business_stars", 4.0, "rated 4.0 stars"),
    ("review_count", 128, "review count: 128"),
    # Hours.
    ("hours.Tuesday", "9:0-22:30", "Tuesday hours: 9 am to 10:30 pm (9:0-22:30)"),
    ("hours.Tuesday", "7:5-12:0", "Tuesday hours: 7:05 am to 12 pm (noon) (7:5-12:0)"),
    ("hours.Tuesday", "12:0-18:0", "Tuesday hours: 12 pm (noon) to 6 pm (12:0-18:0)"),
    ("hours.Tuesday", "17:0-2:0", "Tuesday hours: 5 pm to 2 am (17:0-2:0)"),
    ("hours.Tuesday", "11:0-0:0", "Tuesday hours: 11 am to 12 am (midnight) (11:0-0:0)"),
    ("hours.Tuesday", "11:0-24:0", "Tuesday hours: 11 am to 12 am (midnight) (11:0-24:0)"),
    ("hours.Tuesday", "11:0-0:30", "Tuesday hours: 11 am to 12:30 am (11:0-0:30)"),
    ("hours.Tuesday", "0:0-24:0", "Tuesday hours: open 24 hours (0:0-24:0)"),
    ("hours.Tuesday", "9:75-25:0", "Tuesday hours: 9:75-25:0"),
    ("hours.Tuesday", "by appointment", "Tuesday hours: by appointment"),
    # Flags.
    ("attributes.OutdoorSeating", True, "has outdoor seating"),
    ("attributes.OutdoorSeating", "False", "no outdoor seating"),
    ("attributes.RestaurantsReservations", True, "takes reservations"),
    ("attributes.RestaurantsReservations", False, "no reservations"),
    ("attributes.RestaurantsTakeOut", True, "offers takeout"),
    ("attributes.RestaurantsDelivery", False, "no delivery"),
    ("attributes.RestaurantsTableService", True, "offers table service"),
    ("attributes.RestaurantsCounterService", True, "offers counter service"),
    ("attributes.RestaurantsGoodForGroups", False, "not good for groups"),
    ("attributes.GoodForKids", True, "good for kids"),
    ("attributes.GoodForDancing", False, "not good for dancing"),
    ("attributes.HasTV", False, "no TV"),
    ("attributes.HappyHour", True, "has a happy hour"),
    ("attributes.Caters", True, "offers catering"),
    ("attributes.Caters", False, "no catering"),
    ("attributes.BikeParking", True, "bike parking: yes"),
    ("attributes.DogsAllowed", False, "dogs allowed: no"),
    ("attributes.ByAppointmentOnly", True, "takes customers by appointment only"),
    ("attributes.CoatCheck", False, "no coat check"),
    ("attributes.DriveThru", True, "has a drive-thru (drive-through)"),
    ("attributes.AcceptsInsurance", False, "accepts no insurance"),
    ("attributes.BusinessAcceptsCreditCards", True, "accepts credit cards"),
    ("attributes.BusinessAcceptsBitcoin", False, "accepts no Bitcoin"),
    ("attributes.WheelchairAccessible", True, "wheelchair accessible"),
    ("attributes.Open24Hours", True, "open 24 hours"),
    ("attributes.Open24Hours", False, "no 24-hour opening"),
    ("attributes.BYOB", True, "has BYOB (bring your own bottle)"),
    ("attributes.Corkage", False, "no corkage"),
    ("attributes.SomethingNew2Here", True, "something new 2 here: yes"),
    # Codes.
    ("attributes.WiFi", "free", "free WiFi"),
    ("attributes.WiFi", "u'paid'", "paid WiFi"),
    ("attributes.WiFi", "'no'", "no WiFi"),
    ("attributes.WiFi", True, "has WiFi"),
    ("attributes.Alcohol", "u'beer_and_wine'", "alcohol: beer and wine"),
    ("attributes.Alcohol", "none", "no alcohol"),
    ("attributes.NoiseLevel", "very_loud", "noise level: very loud"),
    ("attributes.RestaurantsAttire", "dressy", "attire: dressy"),
    ("attributes.RestaurantsPriceRange2", "2", "price range: 2"),
    ("attributes.Smoking", "no", "no smoking"),
    ("attributes.Smoking", "outdoor", "smoking: outdoor only"),
    ("attributes.AgesAllowed", "21plus", "ages allowed: 21 and over (21+)"),
    ("attributes.AgesAllowed", "allages", "ages allowed: all ages"),
    (
        "attributes.BYOBCorkage",
        "yes_corkage",
        "has BYOB (bring your own bottle) with a corkage fee",
    ),
    ("attributes.BYOBCorkage", "no", "no BYOB (bring your own bottle)"),
    # Members of groups.
    ("attributes.BusinessParking.street", True, "street parking"),
    ("attributes.BusinessParking.garage", False, "no garage parking"),
    ("attributes.Ambience.casual", True, "casual ambience"),
    ("attributes.Ambience.romantic", False, "not romantic ambience"),
    ("attributes.GoodForMeal.dinner", True, "good for dinner"),
    ("attributes.GoodForMeal.latenight", False, "not good for late night"),
    ("attributes.Music.live", True, "live music"),
    ("attributes.Music.dj", False, "no DJ music"),
    ("attributes.Music.background_music", True, "background music"),
    ("attributes.Music.no_music", True, "no music"),
    ("attributes.BestNights.friday", True, "best night: Friday"),
    ("attributes.BestNights.monday", False, "not a best night: Monday"),
    ("attributes.DietaryRestrictions.gluten-free", True, "offers gluten-free food"),
    ("attributes.DietaryRestrictions.halal", False, "no halal food"),
    ("attributes.HairSpecializesIn.curly", True, "hair specialty: curly"),
    ("attributes.HairSpecializesIn.africanamerican", True, "hair specialty: African American"),
]


@pytest.mark.parametrize(
    ("path", "value", "text"), VALUES, ids=[f"{path}={value}" for path, value, _ in VALUES]
)
def test_a_value_reads_as_english(path, value, text):
    fragment = fragments(nested(path, value))[f"f-{path}"]
    assert (fragment.text, fragment.path, fragment.is_unknown) == (text, path, False)


@pytest.mark.parametrize(
    ("path", "value", "text"),
    [
        ("address", "", "address: unknown"),
        ("hours", None, "hours: unknown"),
        ("hours", {}, "hours: unknown"),
        ("hours.Monday", None, "Monday hours: unknown"),
        ("attributes.WiFi", None, "WiFi: unknown"),
        ("attributes.WiFi", "None", "WiFi: unknown"),
        ("attributes.WiFi", "u''", "WiFi: unknown"),
        ("attributes.RestaurantsReservations", None, "reservations: unknown"),
        ("attributes.BusinessParking", None, "parking: unknown"),
        ("attributes.BusinessParking.valet", None, "valet parking: unknown"),
        ("attributes.Ambience.divey", None, "divey ambience: unknown"),
        ("attributes.GoodForMeal", None, "meals: unknown"),
    ],
)
def test_a_null_is_unknown_and_never_absent(path, value, text):
    fragment = fragments(nested(path, value))[f"f-{path}"]
    assert (fragment.text, fragment.is_unknown) == (text, True)


def test_python_literals_in_strings_are_read():
    music = "{'dj': False, u'live': True, jkebox: None}"
    found = fragments({"attributes": {"WiFi": "u'free'", "Music": music}})
    assert [part.text for part in found.values()] == [
        "free WiFi",
        "no DJ music",
        "live music",
        "jukebox music: unknown",
    ]


# What several values say together.


TUESDAYS_TO_SATURDAYS = ", ".join(f"{day}s" for day in WEEK[1:6])
NINE, TEN = "9:0-17:0", "10:0-16:0"
HOURS = [
    (
        "every day alike",
        week(*[NINE] * 7),
        [
            "open 7 days a week: " + ", ".join(WEEK),
            "open every day, Monday to Sunday, 9 am to 5 pm",
            "open daily, on weekdays and weekends, 9 am to 5 pm",
        ],
    ),
    (
        "weekdays and weekends",
        week(*[NINE] * 5, TEN, TEN),
        [
            "open 7 days a week: " + ", ".join(WEEK),
            "open Monday to Friday 9 am to 5 pm",
            "open on weekdays 9 am to 5 pm",
            "open Saturday and Sunday 10 am to 4 pm",
            "open on weekends 10 am to 4 pm",
        ],
    ),
    (
        "to Saturday, shut on Sunday",
        week(*[NINE] * 6, "0:0-0:0"),
        [
            "open 6 days a week: " + ", ".join(WEEK[:6]) + "; closed on Sundays",
            "open Monday to Saturday 9 am to 5 pm",
            "open on weekdays 9 am to 5 pm",
        ],
    ),
    (
        "shut on weekends",
        week(*[NINE] * 5, "0:0-0:0", "0:0-0:0"),
        [
            "open 5 days a week: " + ", ".join(WEEK[:5]) + "; closed on weekends",
            "open Monday to Friday 9 am to 5 pm",
            "open on weekdays 9 am to 5 pm",
        ],
    ),
    (
        "a day in between",
        week(NINE, NINE, TEN, NINE, NINE, NINE, TEN),
        [
            "open 7 days a week: " + ", ".join(WEEK),
            "open Monday, Tuesday and Thursday to Saturday 9 am to 5 pm",
            "open Wednesday and Sunday 10 am to 4 pm",
        ],
    ),
    (
        "a missing day is neither open nor closed",
        week(None, NINE, NINE),
        [
            "open on Tuesday and Wednesday",
            "open Tuesday and Wednesday 9 am to 5 pm",
        ],
    ),
    (
        "round the clock",
        week("0:0-24:0", "0:0-24:0"),
        ["open on Monday and Tuesday", "open Monday and Tuesday 24 hours"],
    ),
    (
        "past midnight",
        week("17:0-2:0", "17:0-2:0"),
        ["open on Monday and Tuesday", "open Monday and Tuesday 5 pm to 2 am"],
    ),
    (
        "a null day is neither open nor closed",
        {**week(*[NINE] * 6), "Sunday": None},
        [
            "open on Monday, Tuesday, Wednesday, Thursday, Friday and Saturday",
            "open Monday to Saturday 9 am to 5 pm",
            "open on weekdays 9 am to 5 pm",
        ],
    ),
    (
        "one day of seven",
        week(NINE, *["0:0-0:0"] * 6),
        [
            f"open 1 day a week: Monday; closed on {TUESDAYS_TO_SATURDAYS} and Sundays",
        ],
    ),
    ("one day", week(NINE, "0:0-0:0"), ["open on Monday; closed on Tuesdays"]),
    ("unreadable", week("late", "late"), ["open on Monday and Tuesday"]),
    ("unknown", week("", ""), []),
    ("nothing but zeros", week(*["0:0-0:0"] * 7), []),
]


@pytest.mark.parametrize(("hours", "texts"), [row[1:] for row in HOURS], ids=[r[0] for r in HOURS])
def test_days_that_share_their_hours_are_said_together(hours, texts):
    found = fragments({"hours": hours})
    derived = [part for part in found.values() if part.path == "hours" and not part.is_unknown]
    assert [part.text for part in derived] == texts
    assert all(set(part.parts) <= set(found) and part.parts for part in derived)


def test_zeros_mean_closed_only_where_another_day_has_hours():
    some = fragments({"hours": week("0:0-0:0", NINE)})
    none = fragments({"hours": week("0:0-0:0", "0:0-0:0")})
    assert some["f-hours.Monday"].text == "Monday hours: closed (0:0-0:0)"
    assert none["f-hours.Monday"].text == "Monday hours: unknown (0:0-0:0)"
    assert none["f-hours.Monday"].is_unknown


@pytest.mark.parametrize(
    ("attributes", "text", "is_unknown"),
    [
        ({"BusinessParking": {"garage": False, "street": False}}, "no parking", False),
        ({"BusinessParking": "{'garage': False, 'lot': False}"}, "no parking", False),
        ({"BusinessParking": {"garage": None, "street": None}}, "parking: unknown", True),
        ({"Ambience": {"casual": None}}, "ambience: unknown", True),
        ({"Music": {"dj": False, "live": False}}, "no music", False),
        # Nothing follows: one may be there, one is there, or there is no "no" to say.
        ({"BusinessParking": {"garage": False, "street": None}}, None, None),
        ({"BusinessParking": {"garage": True, "street": None}}, None, None),
        ({"Music": {"dj": False, "no_music": False}}, None, None),
        ({"Ambience": {"casual": False, "romantic": False}}, None, None),
    ],
)
def test_a_group_says_that_none_is_there_only_if_all_are_denied(attributes, text, is_unknown):
    (key,) = attributes
    fragment = fragments({"attributes": attributes}).get(f"f-attributes.{key}")
    assert (fragment and fragment.text, fragment and fragment.is_unknown) == (text, is_unknown)


@pytest.mark.parametrize(
    ("address", "texts"),
    [
        (
            ("35 W Haley St", "Goleta", "CA"),
            [
                "located at 35 W Haley St, Goleta, CA",
                "located at 35 West Haley Street, Goleta, California",
            ],
        ),
        (
            ("1 Main Street", "Alm", "Pennsylvania"),
            ["located at 1 Main Street, Alm, Pennsylvania", "located at 1 Main Street, Alm, PA"],
        ),
        (("", "Goleta", "CA"), ["located at Goleta, CA", "located at Goleta, California"]),
        (("1 Main Street", "Alm", ""), ["located at 1 Main Street, Alm"]),
        (("1 Main St", "", ""), []),
    ],
)
def test_the_address_stands_whole_and_as_it_may_be_written(address, texts):
    fields = dict(zip(("address", "city", "state"), address, strict=True))
    assert derived_of(fields, "address") == texts


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("6920 Market Pl Dr", "6920 Market Place Drive"),
        ("5599 Hollister Ave, Unit C", "5599 Hollister Avenue, Unit C"),
        ("7000 Hollister Ave., Ste 102", "7000 Hollister Avenue, Suite 102"),
        ("12 St Helena Ave", "12 St Helena Avenue"),
        ("11 W De La Guerra St", "11 West De La Guerra Street"),
        ("819 B State St", "819 B State Street"),
        ("1 Court Pl", "1 Court Place"),
        ("100 Dr King Blvd N", "100 Dr King Boulevard N"),
        ("5 St", "5 Street"),
        ("", ""),
    ],
)
def test_an_address_is_spelled_out_where_its_abbreviations_are_plain(address, expected):
    assert spelled_out(address) == expected


def test_each_category_stands_for_itself_too():
    found = fragments({"categories": "Bars, Mexican, Restaurants, Beer, Wine & Spirits"})
    assert {part_id: part.text for part_id, part in found.items()} == {
        "f-categories": "categories: Bars, Mexican, Restaurants, Beer, Wine & Spirits",
        "f-categories=Bars": "category: Bars",
        "f-categories=Mexican": "category: Mexican restaurant",
        "f-categories=Restaurants": "category: Restaurants",
        "f-categories=Beer, Wine & Spirits": "category: Beer, Wine & Spirits",
    }
    assert found["f-categories"].parts == tuple(found)[1:]


def test_a_cuisine_is_a_restaurants_only_beside_restaurants():
    found = fragments({"categories": "Mexican, Grocery"})
    assert found["f-categories=Mexican"].text == "category: Mexican"


@pytest.mark.parametrize(
    ("listed", "expected"),
    [
        ("Food", ["Food"]),
        (" Food ,, Bars,Food", ["Food", "Bars"]),
        ("Beer, Wine & Spirits, Bars", ["Beer, Wine & Spirits", "Bars"]),
        ("Coffee & Tea, Beer, Wine Bars", ["Coffee & Tea", "Beer", "Wine Bars"]),
        ("", []),
    ],
)
def test_a_list_of_categories_is_cut_at_its_commas(listed, expected):
    assert category_names(listed) == expected


@pytest.mark.parametrize(
    ("stars", "texts"),
    [(4.0, ["rated 4 stars"]), (1.0, ["rated 1 star"]), (3.5, []), (4, []), (None, [])],
)
def test_whole_stars_are_also_said_without_a_decimal_and_no_scale_is_made_up(stars, texts):
    assert derived_of({"business_stars": stars}, "business_stars") == texts
