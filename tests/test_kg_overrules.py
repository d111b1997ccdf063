"""What people say of names: its place in the merge, contradictions, the file; order and spelling never matter."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg.errors import InputError
from kg.evidence import EVIDENCE
from kg.linkage import complete_linkage
from kg.merge import MergeConfig, Merged, Names, merge_names
from kg.names import name_form, name_key
from kg.overrules import Overrules, Said
from kg.overrules_file import read_overrules
from tests.conftest import HashEncoder

WORDS = ("BLEU", "BLEU score", "the BLEU metric", "ROUGE", "ROUGE scores", "Tower of Babel", "量子计算", "GPT-2")
SAME = [Said("same", "BLEU", "Tower of Babel"), Said("same", "Tower of Babel", "Big Ben")]


def merged(surfaces: Sequence[str], said: Sequence[Said] = (), types: Sequence[str] = (), **config: float) -> Merged:
    """By rules alone: what trained weights say is not at stake here."""
    vectors = HashEncoder().encode_documents([name_form(surface) for surface in surfaces])
    names = Names(types or [""] * len(surfaces), surfaces, vectors)
    return merge_names(names, MergeConfig(rungs="rules", overrules=Overrules.of(said), **config))  # type: ignore[arg-type]


def groups(surfaces: Sequence[str], said: Sequence[Said] = (), types: Sequence[str] = ()) -> set[frozenset[str]]:
    found = merged(surfaces, said, types).group
    return {frozenset(np.asarray(surfaces)[found == number].tolist()) for number in set(found.tolist())}


def test_names_said_to_be_the_same_are_joined_and_the_evidence_says_so() -> None:
    surfaces = ["BLEU", "GPT-2", "Tower of Babel"]
    assert len(groups(surfaces)) == 3
    found = merged(surfaces, SAME)
    assert found.group.tolist() == [0, 1, 0]
    assert found.pairs.tolist() == [[0, 2]]
    assert found.probability.tolist() == [1.0]
    assert EVIDENCE[found.evidence[0]] == "overruled"


def test_a_join_that_is_said_takes_along_what_was_joined_before() -> None:
    # "Tower of Babel" is like none of the others: complete linkage alone would have to choose.
    surfaces = ["BLEU", "the BLEU metric", "Tower of Babel"]
    assert groups(surfaces) == {frozenset(surfaces[:2]), frozenset(surfaces[2:])}
    assert groups(surfaces, SAME) == {frozenset(surfaces)}


def test_what_refuses_a_pair_does_not_refuse_what_people_say() -> None:
    assert len(groups(["GPT-2", "GPT-3"])) == 2
    assert groups(["GPT-2", "GPT-3"], [Said("same", "GPT 3", "gpt2")]) == {frozenset({"GPT-2", "GPT-3"})}
    said = [Said("same", "Apple", "Macintosh maker")]
    assert len(groups(["Apple", "Macintosh maker"], said, types=["fruit", "company"])) == 1


def test_names_said_to_be_different_stay_apart_even_without_any_threshold() -> None:
    surfaces = ["BLEU", "the BLEU metric"]
    said = [Said("different", "The BLEU-Metric", "bleu")]
    assert len(groups(surfaces)) == 1
    assert len(groups(surfaces, said)) == 2
    assert merged(surfaces, said, same_as=0.0, tolerated=0.0, join=0.0).group.tolist() == [0, 1]


def test_what_is_different_from_a_name_is_different_from_all_that_it_is() -> None:
    surfaces = ["BLEU", "Tower of Babel", "the BLEU metric"]
    said = [*SAME, Said("different", "Tower of Babel", "the BLEU metric")]
    assert groups(surfaces, said) == {frozenset(surfaces[:2]), frozenset(surfaces[2:])}
    absent = ["BLEU", "the BLEU metric"]  # said through a name that is not there
    assert len(groups(absent, said)) == 2


def test_a_chain_holds_through_names_that_are_not_there() -> None:
    assert groups(["BLEU", "Big Ben"], SAME) == {frozenset({"BLEU", "Big Ben"})}
    assert groups(["BLEU", "GPT-2"], SAME) == groups(["BLEU", "GPT-2"])


def test_no_link_stands_between_groups_that_hold_names_told_apart() -> None:
    surfaces = ["BLEU", "Tower of Babel", "the BLEU metric"]
    said = [Said("different", "BLEU", "Tower of Babel")]
    kept = merged(surfaces, said, join=0.99)
    assert kept.group.tolist() == [0, 1, 2]
    assert kept.pairs.tolist() == [[0, 2]]  # uncertain, and nothing is said of it
    said.append(Said("same", "the BLEU metric", "Tower of Babel"))
    assert merged(surfaces, said, join=0.99).pairs.tolist() == [[1, 2]]


def test_mentions_of_one_name_are_joined_where_something_is_the_same_only() -> None:
    surfaces, types = ["BLEU", "BLEU", "Tower of Babel"], ["metric", "colour", ""]
    assert merged(surfaces, SAME, types).group.tolist() == [0, 0, 0]
    assert merged(surfaces, [Said("different", "BLEU", "Tower of Babel")], types).group.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (
            [("same", "A cat", "dog"), ("different", "Dogs", "a cat")],
            "'Dogs' and 'a cat' are .* different, but also the",
        ),
        (
            [("same", "one", "two"), ("same", "THREE", "two"), ("same", "two", "four"), ("different", "one", "three")],
            r"'one' and 'three' .* the same \('one' = 'two' = 'three'\); take one of these out",
        ),
        ([("different", "data set", "Datasets")], "'data set' and 'Datasets' are spellings of one name"),
    ],
)
def test_contradictions_name_the_names(said: list[tuple[str, str, str]], words: str) -> None:
    for order in (said, said[::-1]):
        with pytest.raises(InputError, match=words):
            Overrules.of([Said(*verdict) for verdict in order])


VERDICTS = st.lists(st.builds(Said, st.sampled_from(("same", "different")), *[st.sampled_from(WORDS)] * 2), max_size=6)


@given(VERDICTS, st.randoms(use_true_random=False))
def test_order_repetition_and_spelling_of_what_is_said_do_not_matter(said: list[Said], rng: random.Random) -> None:
    again = [v._replace(name=v.other, other=v.name.upper()) for v in said]
    mixed = [*said, *again]
    rng.shuffle(mixed)
    try:
        overrules = Overrules.of([*said, *again])
    except InputError:
        with pytest.raises(InputError):
            Overrules.of(mixed)
        return
    assert Overrules.of(mixed) == overrules
    assert Overrules.stored(json.loads(json.dumps(asdict(overrules)))) == overrules


@given(VERDICTS)
def test_the_groups_obey_whatever_is_said_unless_it_contradicts_itself(said: list[Said]) -> None:
    same = nx.Graph()
    same.add_nodes_from(map(name_key, WORDS))
    same.add_edges_from((name_key(v.name), name_key(v.other)) for v in said if v.verdict == "same")
    one = {key: min(part) for part in nx.connected_components(same) for key in part}
    apart = {(one[name_key(v.name)], one[name_key(v.other)]) for v in said if v.verdict == "different"}
    if any(left == right for left, right in apart):
        with pytest.raises(InputError):
            Overrules.of(said)
        return
    group = dict(zip(map(name_key, WORDS), merged(WORDS, said).group.tolist(), strict=True))
    assert all(group[key] == group[leader] for key, leader in one.items())
    assert all(group[left] != group[right] for left, right in apart)


Ends = tuple[int, int]
PAIRS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)).filter(lambda pair: pair[0] < pair[1]), unique=True)


@given(PAIRS, PAIRS, st.integers(0, 2**16))
def test_linkage_counts_what_is_joined_as_one(accepted: list[Ends], joined: list[Ends], seed: int) -> None:
    pairs = np.asarray(accepted, dtype=np.int64).reshape(-1, 2)
    scores = np.random.default_rng(seed).random(len(pairs)).round(1)
    ties = np.asarray(joined, dtype=np.int64).reshape(-1, 2)
    group = complete_linkage(7, pairs, scores, 0.3, ties)
    units = nx.Graph(joined)
    units.add_nodes_from(range(7))
    parts = [frozenset(part) for part in nx.connected_components(units)]
    of = {name: part for part in parts for name in part}
    across = {frozenset((of[i], of[j])) for i, j in accepted}
    for i in range(7):
        assert group[i] == min(j for j in range(7) if group[j] == group[i])
        for j in range(i):
            if of[i] is of[j]:
                assert group[i] == group[j]
            elif group[i] == group[j]:  # a clique of units
                assert frozenset((of[i], of[j])) in across
    # The same as linkage of the units themselves, each with the best score of its pairs.
    best: dict[tuple[int, int], float] = {}
    for (i, j), score in zip(accepted, scores.tolist(), strict=True):
        if of[i] is not of[j]:
            low, high = sorted((min(of[i]), min(of[j])))
            best[low, high] = max(best.get((low, high), 0.0), score)
    plain = complete_linkage(7, np.asarray([*best]).reshape(-1, 2).astype(np.int64), np.asarray([*best.values()]), 0.3)
    assert group.tolist() == [plain[min(of[name])] for name in range(7)]


# The file


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "names.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_a_file_is_read_whatever_its_spaces_columns_and_blank_lines(tmp_path: Path) -> None:
    lines = (
        "\ufeffnote, verdict,name,other",
        ',same,"Smith, J.", John  Smith ',
        "",
        "sure,Different,data-sets,CIFAR-10",
    )
    assert read_overrules(written(tmp_path, "\r\n".join(lines))) == Overrules.of(
        [Said("same", "John Smith", "Smith, J."), Said("different", "CIFAR-10", "data sets")]
    )
    assert not read_overrules(written(tmp_path, "verdict,name,other\n"))
    without = "verdict,name,other,why\nsame,a,b\nsame,c,d,so\n"  # what is passed over may be missing
    assert read_overrules(written(tmp_path, without)) == Overrules.of([Said("same", "a", "b"), Said("same", "c", "d")])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "names.csv, line 1: the head is empty; write verdict,name,other there"),
        ("same,a,b\n", "line 1: the head is same,a,b; write verdict,name,other"),
        ("verdict,name,name,other\n", "line 1: the head is"),
        (b"verdict,name,\xff\n", "line 1: the head is"),
        ("verdict,name,other\nsame,a,b\n\nsame,a,b,c\n", "names.csv, line 4: 4 fields, not 3; put a name .* in quotes"),
        ("verdict,name,other\nequal,a,b\n", "names.csv, line 2: verdict is 'equal'; write same or different"),
        ('verdict,name,other\nsame,"a\n\nb",c\nsame, \u200b,b\n', "names.csv, line 5: name is empty; write a name"),
        ("verdict,name,other\nsame,a,\n", "names.csv, line 2: other is empty"),
        (b"verdict,name,other\nsame,a,\xe9t\xe9\n", "names.csv, line 2: other is not UTF-8; save"),
        ('verdict,name,other\nsame,"a"b,c\n', "names.csv, line 2: no row of CSV"),
        ("verdict,name,other\nsame,cat,dog\ndifferent,dogs,cats\n", "names.csv, line 3: 'dogs' and 'cats' are said"),
        ("verdict,name,other\ndifferent,cat,Cats\n", "names.csv, line 2: 'cat' and 'Cats' are spellings of one"),
    ],
)
def test_what_is_wrong_in_a_file_is_named_with_its_place(tmp_path: Path, text: str | bytes, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_overrules(written(tmp_path, text))


def test_what_is_no_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none.csv cannot be read \(No such file or directory\); name a CSV file"):
        read_overrules(tmp_path / "none.csv")
    with pytest.raises(InputError, match="is no file; name a CSV file with the head verdict,name,other"):
        read_overrules(tmp_path)
