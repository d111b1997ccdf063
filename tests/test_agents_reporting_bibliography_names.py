"""Authors' names: taken apart as published rules say, put together again for lists and texts, and never shortened."""

from __future__ import annotations

import time
from collections import Counter

import pytest
from bibtexparser.middlewares.names import parse_single_name_into_parts
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.reporting.bibliography.names import (
    PersonName,
    format_authors,
    parse_authors,
    parse_name,
    short_authors,
    sort_key,
)
from agents.reporting.body import is_blank


def person(family: str, given: str = "", **more: str) -> PersonName:
    return PersonName(family=family, given=given, **more)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Akerlof, George A.", person("Akerlof", "George A.")),
        ("Michael Spence", person("Spence", "Michael")),
        (" Michael\n\tSpence ", person("Spence", "Michael")),
        ("van der Berg, J.", person("Berg", "J.", particle="van der")),
        ("Jan van der Berg", person("Berg", "Jan", particle="van der")),
        ("de la Cruz, María", person("Cruz", "María", particle="de la")),
        ("De la Cruz, María", person("De la Cruz", "María")),
        ("Berg, Jan van der", person("Berg", "Jan", dropping_particle="van der")),
        ("Dick Van Dyke", person("Van Dyke", "Dick")),
        ("Van Morrison", person("Morrison", "Van")),
        ("Jan in 't Veld", person("Veld", "Jan", particle="in 't")),
        ("Karl Theodor von und zu Guttenberg", person("Guttenberg", "Karl Theodor", particle="von und zu")),
        ("José Ortega y Gasset", person("Ortega y Gasset", "José")),
        ("Ana Maria da Silva dos Santos", person("Santos", "Ana Maria da Silva", particle="dos")),
        ("Muhammad ibn Musa al-Khwārizmī", person("al-Khwārizmī", "Muhammad ibn Musa")),
        ("Terry O'Neill", person("O'Neill", "Terry")),
        ("Alexandre d'Aspremont", person("d'Aspremont", "Alexandre")),
        ("Antoine de Saint-Exupéry", person("Saint-Exupéry", "Antoine", particle="de")),
        ("danah boyd", person("boyd", "danah")),
        ("محمد بن سلمان", person("سلمان", "محمد", particle="بن")),
    ],
)
def test_family_given_and_particles(text: str, name: PersonName) -> None:
    assert parse_name(text) == name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("King, Martin Luther, Jr.", person("King", "Martin Luther", suffix="Jr.")),
        ("King, Jr., Martin Luther", person("King", "Martin Luther", suffix="Jr.")),
        ("Martin Luther King, Jr.", person("King", "Martin Luther", suffix="Jr.")),
        ("Martin Luther King Jr.", person("King", "Martin Luther", suffix="Jr.")),
        ("King, Jr.", person("King", suffix="Jr.")),
        ("Smith III, John", person("Smith", "John", suffix="III")),
        ("Smith, John III", person("Smith", "John", suffix="III")),
        ("John Smith, PhD", person("Smith", "John", suffix="PhD")),
        ("Smith, John, MD", person("Smith", "John", suffix="MD")),
        ("Smith, MD", person("Smith", "MD")),
        ("Smith, John, Jr., PhD", person("Smith", "John", suffix="Jr., PhD")),
    ],
)
def test_suffixes(text: str, name: PersonName) -> None:
    assert parse_name(text) == name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Smith JA", person("Smith", "JA")),
        ("van der Berg J", person("Berg", "J", particle="van der")),
        ("Le Quéré C", person("Le Quéré", "C")),
        ("Petrov IV", person("Petrov", "IV")),
        ("King ML Jr", person("King", "ML", suffix="Jr")),
        ("Rockefeller JD 3rd", person("Rockefeller", "JD", suffix="3rd")),
        ("Иванов И.И.", person("Иванов", "И.И.")),
        ("Ivanov I. I.", person("Ivanov", "I. I.")),
        ("J. A. Smith", person("Smith", "J. A.")),
        ("JOHN SMITH", person("SMITH", "JOHN")),
        ("JOHN LEE", person("LEE", "JOHN")),
    ],
)
def test_initials_at_the_end_follow_the_family_name(text: str, name: PersonName) -> None:
    assert parse_name(text) == name


@pytest.mark.parametrize(
    "text",
    [
        "World Health Organization",
        "GBD 2019 Collaborators",
        "The SPRINT Research Group",
        "World Bank",
        "Bank of England",
        "Federal Reserve Board",
        "Ministry of Health, Singapore",
        "Department of Health, Education, and Welfare",
        "Women in Data",
        "Apple, Inc.",
        "Johnson & Johnson",
        "王小明",
        "王 小明",
        "김민준",
        "Robert (Bob) Smith",
        "3. Division",
        "<script>alert(1)</script>",
        "a, b, c, d",
    ],
)
def test_what_is_no_persons_name_stays_whole(text: str) -> None:
    assert parse_name(text) == PersonName(literal=text)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("{Google DeepMind}", PersonName(literal="Google DeepMind")),
        ("{Barnes {and} Noble}", PersonName(literal="Barnes {and} Noble")),
        ("{van der Berg}, Jan", person("van der Berg", "Jan")),
        ("Jan {van der Berg}", person("van der Berg", "Jan")),
        ("{ }", PersonName()),
        ("{~}a, B", PersonName(literal="{~}a, B")),
        ("{", PersonName(literal="{")),
        ("}a{", PersonName(literal="}a{")),
        (r"G{\"o}del, Kurt", PersonName(literal=r"G{\"o}del, Kurt")),
    ],
)
def test_braces_hold_together(text: str, name: PersonName) -> None:
    assert parse_name(text) == name


def test_words_of_organisations_are_family_names_too() -> None:
    assert parse_name("Bank, Peter") == person("Bank", "Peter")
    assert parse_name("Simon Board") == person("Board", "Simon")
    assert parse_name("Committee, A.") == person("Committee", "A.")


@pytest.mark.parametrize("text", ["Aristotle", "Student", "OECD", "Smith,", ", Smith", "Jr."])
def test_one_word_is_a_family_name(text: str) -> None:
    assert parse_name(text) == person(text.strip(", "))


@pytest.mark.parametrize("text", ["", "  ", "\n", "\u200b", "\x00\x1f"])
def test_nothing_gives_no_name(text: str) -> None:
    assert parse_name(text) == PersonName()


# CSL 1.0.2 specification, "Name Particles": the parts, the name alone, and inverted with
# demote-non-dropping-particle="never". Its al- is a part of the family name here; what is shown is the same.
@pytest.mark.parametrize(
    ("text", "name", "short", "inverted"),
    [
        ("Vincent van Gogh", person("Gogh", "Vincent", particle="van"), "van Gogh", "van Gogh, Vincent"),
        (
            "Humboldt, Alexander von",
            person("Humboldt", "Alexander", dropping_particle="von"),
            "Humboldt",
            "Humboldt, Alexander von",
        ),
        (
            "La Fontaine, Jean de",
            person("La Fontaine", "Jean", dropping_particle="de"),
            "La Fontaine",
            "La Fontaine, Jean de",
        ),
        ("Tawfiq al-Hakim", person("al-Hakim", "Tawfiq"), "al-Hakim", "al-Hakim, Tawfiq"),
        ("{de Gaulle}, Charles", person("de Gaulle", "Charles"), "de Gaulle", "de Gaulle, Charles"),
    ],
)
def test_particles_as_in_the_csl_specification(text: str, name: PersonName, short: str, inverted: str) -> None:
    parsed = parse_name(text)
    assert (parsed, parsed.short, parsed.inverted) == (name, short, inverted)


# Names in "Citing sources: author names", APA guide of Jönköping University Library.
@pytest.mark.parametrize(
    ("text", "short", "inverted"),
    [
        ("Simone de Beauvoir", "de Beauvoir", "de Beauvoir, Simone"),
        ("Andrew M. St. Laurent", "St. Laurent", "St. Laurent, Andrew M."),
        ("Désirée von Ahlefeld Nisser", "von Ahlefeld Nisser", "von Ahlefeld Nisser, Désirée"),
    ],
)
def test_two_part_family_names_as_in_apa(text: str, short: str, inverted: str) -> None:
    assert (parse_name(text).short, parse_name(text).inverted) == (short, inverted)


# Oren Patashnik, BibTeXing (1988), section 4, and forms of the same kind; an independent reader splits them.
@pytest.mark.parametrize(
    "text",
    [
        "Brinch Hansen, Per",
        "Ford, Jr., Henry",
        "Steele, Jr., Guy L.",
        "de la Vallée Poussin, Charles Louis Xavier Joseph",
        "Charles Louis Xavier Joseph de la Vallée Poussin",
        "Ludwig van Beethoven",
        "von Beethoven, Ludwig",
        "Donald E. Knuth",
    ],
)
def test_names_are_split_as_bibtex_splits_them(text: str) -> None:
    name, parts = parse_name(text), parse_single_name_into_parts(text)
    assert [name.particle, name.family, name.suffix, name.given] == [
        " ".join(words) for words in (parts.von, parts.last, parts.jr, parts.first)
    ]


@pytest.mark.parametrize(
    ("given_name", "initials"),
    [
        ("George A.", "G. A."),
        ("G.A.", "G. A."),
        ("Jean-Paul", "J.-P."),
        ("Seungjin", "S."),
        ("Émile", "É."),
        ("Иван", "И."),
        ("小明", "小明"),
        ("", ""),
        # CSL test suite, name_InTextMarkupNormalizeInitials and name_InitialsInitializeTruePeriod
        ("J Q", "J. Q."),
        ("J-Q", "J.-Q."),
        ("ME", "M. E."),
        ("John M.E.", "J. M. E."),
    ],
)
def test_initials(given_name: str, initials: str) -> None:
    assert person("X", given_name).initials == initials


@pytest.mark.parametrize(
    ("authors", "short"),
    [
        ((), ""),
        (("", "\u200b"), ""),
        (("Akerlof, George A.",), "Akerlof"),
        (("Fama, Eugene F.", "French, Kenneth R."), "Fama and French"),
        (("Lee, Hau L.", "Padmanabhan, V.", "Whang, Seungjin"), "Lee et al."),
        (("Jan van der Berg", "World Health Organization"), "van der Berg and World Health Organization"),
        (("Fama, Eugene F.", "et al."), "Fama et al."),
        (("王小明",), "王小明"),
    ],
)
def test_authors_in_a_text(authors: tuple[str, ...], short: str) -> None:
    assert short_authors(authors) == short


@pytest.mark.parametrize(
    "others", ["et al.", "et al", "Et Al.", "and others", "others", "& others", "...", "…", ", et al."]
)
def test_others_are_no_author_but_said(others: str) -> None:
    assert parse_authors(["Smith, J.", others]) == ([person("Smith", "J.")], True)
    assert format_authors(["Smith, J.", others]) == "Smith, J. et al."
    assert format_authors([others]) == short_authors([others]) == ""


def test_others_may_stand_behind_a_name() -> None:
    assert format_authors(["Smith, J., et al."]) == format_authors(["Smith, J. and others"]) == "Smith, J. et al."
    assert parse_authors(["Others, John", "Brothers and Others Foundation"])[1] is False


def test_sixty_authors_are_shortened_and_it_is_said() -> None:
    authors = [f"Author{chr(97 + i % 26)}{chr(97 + i // 26)}, X." for i in range(60)]
    assert format_authors(authors) == "Authoraa, X.; Authorba, X.; Authorca, X. et al."
    assert format_authors(authors, limit=60).count(";") == 59
    assert format_authors([*authors[:2], " ", ""]) == "Authoraa, X.; Authorba, X."


def test_names_sort_without_accents_case_and_spaces() -> None:
    names = ["Zöllner", "Østby", "åkerlund", "van der Berg", "Ávila", "O'Neill", "Vandenberg", "Ægir", "Łoś", "Straße"]
    assert sorted(names, key=sort_key) == [
        "Ægir", "åkerlund", "Ávila", "Łoś", "O'Neill", "Østby", "Straße", "Vandenberg", "van der Berg", "Zöllner"
    ]  # fmt: skip


PIECES = st.sampled_from(
    [*"ABcéßØ王م,,,..''-{}() \t1", "van ", "de la ", "Jr.", "III", "PhD", "Smith", "John ", "et al.", " and ", "Bank"]
)
ANY = st.one_of(st.text(), st.lists(PIECES, max_size=12).map("".join))


def letters(text: str) -> Counter[str]:
    return Counter(ch for ch in text if ch.isalnum())


@settings(max_examples=400)
@given(ANY)
def test_no_letter_of_a_name_is_lost_or_made(text: str) -> None:
    name = parse_name(text)
    parts = [name.family, name.given, name.particle, name.dropping_particle, name.suffix, name.literal]
    assert letters("".join(parts)) == letters(text) == letters(name.inverted)
    assert not (name.literal and any(parts[:-1]))
    assert bool(name.literal or name.family) or is_blank(text.strip("{} \t\n\r")) or not letters(text)
    assert all(part == part.strip() for part in parts)


@settings(max_examples=200)
@given(st.lists(ANY, max_size=8), st.integers(1, 8))
def test_lists_show_all_they_say_they_show(authors: list[str], limit: int) -> None:
    names, more = parse_authors(authors)
    shown = format_authors(authors, limit, 1)
    kept = names if len(names) <= limit else names[:1]
    assert shown.startswith("; ".join(name.inverted for name in kept))
    assert shown.endswith(" et al.") or not (names and (more or len(names) > limit))


FAMILIES = st.sampled_from(["Berg", "O'Neill", "Garcia Lopez", "Saint-Exupéry", "Иванов", "d'Aspremont", "王"])
GIVEN = st.sampled_from(["Jan", "J.", "J. A.", "JA", "Jean-Paul", "María José", "小明"])


@given(FAMILIES, GIVEN, st.sampled_from(["", "van der", "de la"]), st.sampled_from(["", "Jr.", "III"]), st.booleans())
def test_an_inverted_name_is_read_again_as_it_was(
    family: str, given_name: str, particle: str, suffix: str, dropping: bool
) -> None:
    where = {"dropping_particle" if dropping else "particle": particle}
    name = person(family, given_name, suffix=suffix, **where)
    assert parse_name(name.inverted) == name


def test_long_texts_take_linear_time() -> None:
    started = time.perf_counter()
    for piece in ("a ", "van ", "A. ", ", ", "{", "{}", "a,", "1st ", "3rd", " et al", "y ", "...", " \u200b", "Jr. "):
        format_authors([piece * 20_000])
    assert time.perf_counter() - started < 10
