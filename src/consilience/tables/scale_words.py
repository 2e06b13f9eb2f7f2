"""Words that people answer with in an order: scales by name, and degrees of one thing or of two opposite ones."""

from __future__ import annotations

import re

#: Scales from the lowest level to the highest, "|" between levels and "/" between words for the same one.
_SCALES = (
    "never|almost never/hardly ever/very rarely|rarely/seldom|occasionally/once in a while/now and then|sometimes|"
    "regularly/frequently/often|usually/mostly/most of the time|very often/very frequently/almost always/nearly always|"
    "always/all the time/constantly",
    "never/not at all|rarely/seldom/occasionally|less than once a year|yearly/annually/once a year|a few times a year|quarterly|"
    "less than once a month|monthly/once a month|a few times a month|every two weeks/biweekly/fortnightly|less than once a week|"
    "weekly/once a week|a few times a week/several times a week|daily/every day/once a day|several times a day|hourly",
    "none/no/zero|negligible/minimal/lowest|very low|low|medium low/low medium|"
    "medium/moderate/mid/middle/average/normal/intermediate|medium high|high|very high/highest|extreme/critical/urgent",
    "terrible/awful/very bad/very poor/unacceptable|poor/bad|below average|"
    "fair/average/okay/ok/mediocre/acceptable/adequate/satisfactory/neutral/so so|above average|good|very good/great|"
    "excellent/outstanding/exceptional/perfect",
    "none/not at all/nothing/not|hardly/very little|a little/a little bit/a bit/slightly|some/somewhat/to some extent|"
    "moderately/a moderate amount|quite a bit/quite/a lot/much/fairly|very/very much/a great deal/mostly/to a great extent|"
    "extremely/completely/totally/entirely",
    "none/no symptoms/absent/asymptomatic|minimal/trace|mild/minor|mild to moderate|moderate|moderate to severe|"
    "severe/major/serious|very severe/critical/life threatening",
    "no|probably not|maybe/perhaps/possibly/partly|probably|yes",
    "definitely not|probably not|maybe/perhaps/possibly/might or might not|probably/probably yes|definitely/definitely yes",
    "3xs/xxxs|2xs/xxs|xs|s|m|l|xl|xxl/2xl|xxxl/3xl|xxxxl/4xl",
    "tiny/extra small/very small|small|medium/mid/middle|large/big|extra large/very large/huge",
    "short/very short|medium/average/normal|long/tall|very long/very tall",
    "slow|medium/average/normal/moderate|fast|very fast",
    "light|medium/moderate/average/normal|heavy|very heavy",
    "cold|cool|mild|warm|hot",
    "lower|lower middle|middle|upper middle|upper",
    "young|middle aged|old/elderly/senior",
    "infant/baby|child|teen/teenager/adolescent|young adult|adult|middle aged|senior/elderly",
    "none|novice/beginner|elementary/basic|intermediate|advanced/proficient|expert/fluent/native",
    "intern/trainee|junior|mid/mid level/intermediate/regular|senior|lead/principal",
    "bronze|silver|gold|platinum|diamond",
    "none/no formal education/no schooling/no education|primary/primary school/primary education/elementary/elementary school|"
    "middle school/some high school/lower secondary/less than high school|"
    "secondary/secondary school/secondary education/high school/high school graduate/high school diploma/hs grad/upper secondary|"
    "vocational/vocational training/apprenticeship/trade school/technical school/some college/some university|"
    "associate/associates/associate degree/associates degree|"
    "bachelor/bachelors/bachelor degree/bachelors degree/undergraduate/undergraduate degree/college/college degree/university/"
    "university degree/tertiary/tertiary education/graduate|"
    "master/masters/master degree/masters degree/postgraduate/postgraduate degree/graduate degree/graduate school/mba|"
    "phd/ph.d/doctor/doctoral/doctorate/doctoral degree/doctorate degree",
    "nie|selten|gelegentlich|manchmal|oft/häufig|meistens|sehr oft/sehr häufig|immer",
    "sehr niedrig/sehr gering|niedrig/gering|mittel/normal|hoch|sehr hoch",
    "sehr schlecht/ungenügend|schlecht/mangelhaft|ausreichend|mittel/mittelmäßig/befriedigend/neutral/teils teils|gut|sehr gut",
    "sehr unzufrieden|unzufrieden|eher unzufrieden|neutral/teils teils|eher zufrieden|zufrieden|sehr zufrieden",
    "stimme überhaupt nicht zu/stimme gar nicht zu|stimme nicht zu|stimme eher nicht zu|neutral/teils teils/weder noch|stimme eher zu|"
    "stimme zu|stimme voll zu/stimme voll und ganz zu/stimme völlig zu",
    "keine/kein/nein|leicht|mäßig/mittel/mittelschwer|schwer/stark|sehr schwer/sehr stark",
    "klein|mittel|groß|sehr groß",
)
#: The same of time, which is ordered only where that is asked for: a year has no end.
_CALENDAR = (
    "monday/mon|tuesday/tue|wednesday/wed|thursday/thu|friday/fri|saturday/sat|sunday/sun",
    "january/jan|february/feb|march/mar|april/apr|may|june/jun|july/jul|august/aug|september/sep|october/oct|november/nov|december/dec",
    "winter|spring|summer|autumn/fall",
)
_OPPOSITES = (
    "disagree/agree, dissatisfied/satisfied, unsatisfied/satisfied, unlikely/likely, unhappy/happy, difficult/easy, hard/easy, "
    "unimportant/important, negative/positive, worse/better, unsafe/safe, uncomfortable/comfortable, unfavorable/favorable, "
    "ineffective/effective, decreased/increased, less/more, lower/higher, oppose/support, weak/strong, poor/good, bad/good"
)
POLES = {
    word: (pair.split("/")[1], sign)
    for pair in _OPPOSITES.split(", ")
    for word, sign in zip(pair.split("/"), (-1, 1), strict=True)
}
#: How much of a thing a word says, beside 2 of the thing alone.
DEGREES = {
    word: degree
    for degree, words in {
        1.0: "slightly/a little/a bit/mildly/little",
        1.2: "somewhat/partly/partially/tend to/rather/lightly",
        1.6: "moderately/generally",
        1.8: "mostly/fairly/quite/mainly/pretty",
        3.0: "very/strongly/highly/much/really/a lot",
        4.0: "extremely/completely/totally/fully/absolutely/entirely/definitely",
        -1.0: "not very/not so/not that/not particularly/not really",
        -2.0: "not",
        -4.0: "not at all/not in the least/absolutely not",
    }.items()
    for word in words.split("/")
}
_NEITHER = re.compile(
    r"neutral|neither( .*)?|undecided|(stayed |about |stay )?(the )?same|no change|unchanged|mixed|in between"
)
_BEFORE = re.compile(r"[(\[]?\d+[)\]]?\s*[-–—:.=,)]*\s*(?=\S*[^\W\d])")
_BEHIND = re.compile(r"[\s-]*[(\[]\s*\d+\s*[)\]]$")


def key_of(word: str) -> str:
    """A word without what may differ in how it is written: capitals, hyphens, a number before or behind it, a point.

    Examples
    --------
    >>> [key_of(word) for word in ("1 - Strongly  disagree", "Master's_degree", "(5) Very high", "OK.", "so-so", "Low (1)", "7")]
    ['strongly disagree', 'masters degree', 'very high', 'ok', 'so so', 'low', '7']
    """
    text = _BEHIND.sub("", _BEFORE.sub("", word.strip().casefold(), count=1))
    text = re.sub(r"['’`´]", "", text)
    return re.sub(r"[\s_/–—-]+", " ", text).strip(" .,;:!()[]")


def _places(scale: str) -> dict[str, float]:
    return {key_of(word): float(place) for place, words in enumerate(scale.split("|")) for word in words.split("/")}


SCALES = [_places(scale) for scale in _SCALES]
CALENDAR = [_places(scale) for scale in _CALENDAR]


def degree_of(key: str) -> tuple[str, float]:
    """What a word is a degree of, of two opposites the better one, and how much of that; "" of words for neither.

    Examples
    --------
    >>> degree_of("strongly disagree"), degree_of("agree"), degree_of("neither agree nor disagree"), degree_of("not at all useful")
    (('agree', -3.0), ('agree', 2.0), ('', 0.0), ('useful', -4.0))
    """
    if _NEITHER.fullmatch(key):
        return "", 0.0
    words = key.split()
    for n in range(min(4, len(words) - 1), 0, -1):
        for degree, rest in ((words[:n], words[n:]), (words[-n:], words[:-n])):
            if " ".join(degree) in DEGREES:
                return _toward(" ".join(rest), DEGREES[" ".join(degree)])
    return _toward(key, 2.0)


def _toward(thing: str, degree: float) -> tuple[str, float]:
    pair, sign = POLES.get(thing, (thing, 1))
    return pair, sign * degree
