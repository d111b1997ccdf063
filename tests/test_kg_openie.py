"""Reading HippoRAG's OpenIE files: every row is kept or counted, and no other file gets further than a sentence."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg.errors import InputError
from kg.names import name_key
from kg.openie import LONGEST, OpenIE, Passage, read_openie


def doc(passage: str, *rows: Any, entities: Any = (), **more: Any) -> dict[str, Any]:
    return {"passage": passage, "extracted_entities": list(entities), "extracted_triples": list(rows), **more}


def openie_file(folder: Path, docs: Any) -> Path:
    path = folder / "openie.json"
    path.write_text(json.dumps({"docs": docs, "avg_ent_chars": float("nan")}), encoding="utf-8")
    return path


def read(folder: Path, *docs: Any) -> OpenIE:
    return read_openie(openie_file(folder, docs))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("openie")


def test_a_passage_gives_its_names_and_rows(folder: Path) -> None:
    found = read(folder, doc("Rome\nRome lies in  Italy.", ["Rome", "lies in", "Italy"], entities=["Tiber"]))
    assert found.passages == {
        "Rome Rome lies in Italy.": Passage(("Italy", "Rome", "Tiber"), (("Rome", "lies in", "Italy"),))
    }
    assert (found.read, found.skipped, found.with_text) == (1, (), {})
    assert found.summary() == "1 triple of 1 passage"


def test_a_passage_may_come_as_title_and_text(folder: Path) -> None:
    parts = {"title": "Rome", "text": "Rome lies in Italy."}
    found = read(folder, {**parts, "extracted_triples": [["Rome", "lies in", "Italy"]]}, doc("Oslo is here.", text="x"))
    assert sorted(found.passages) == ["Oslo is here.", "Rome Rome lies in Italy."]
    assert found.with_text == {"Rome lies in Italy.": ("Rome Rome lies in Italy.",), "x": ("Oslo is here.",)}


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("a b c", "not of three entries"),
        ({"a": 1, "b": 2, "c": 3}, "not of three entries"),
        (None, "not of three entries"),
        ([], "not of three entries"),
        (["a", "b"], "not of three entries"),
        (["a", "b", "c", "d"], "not of three entries"),
        (["a", "b", 1963], "with an entry that is no text"),
        (["a", None, "c"], "with an entry that is no text"),
        ([["a"], "b", "c"], "with an entry that is no text"),
        (["a", "b", float("inf")], "with an entry that is no text"),
        (["a", "b", ""], "with an empty entry"),
        ([" \t", "b", "c"], "with an empty entry"),
        (["a", "\u200b", "c"], "with an empty entry"),
        (["a", "b", "c" * (LONGEST + 1)], "with an entry of more than 1,000 characters"),
    ],
)
def test_a_malformed_row_is_left_out_by_itself(folder: Path, row: Any, reason: str) -> None:
    found = read(folder, doc("One.", ["x", "r", "y"]), doc("Two.", ["x", "r", "y"], row, ["u", "r", "v"]))
    assert [len(passage.rows) for passage in found.passages.values()] == [1, 2]
    assert [(entry.what, entry.reason, entry.count) for entry in found.skipped] == [("triples", reason, 1)]
    assert found.skipped[0].first.startswith("in passage 2: ")
    assert len(str(found.skipped[0])) < 300
    assert found.summary() == "4 triples of 2 passages, 1 malformed and skipped"


@pytest.mark.parametrize("entity", [3, None, "", " ", ["a"], "e" * (LONGEST + 1)])
def test_a_malformed_entity_is_left_out_by_itself(folder: Path, entity: Any) -> None:
    found = read(folder, doc("One.", entities=["Rome", entity, "Oslo"]))
    assert found.passages["One."].names == ("Oslo", "Rome")
    assert found.left_out("entities") == 1
    assert found.summary() == "0 triples of 1 passage, 1 entity skipped"


def test_what_is_no_passage_is_counted_with_its_rows(folder: Path) -> None:
    row = ["a", "b", "c"]
    lists = {"extracted_triples": "none", "extracted_entities": {"a": 1}}
    found = read(folder, 7, doc(" \n", row, row), doc("One.", row), {"title": "No text"}, {"passage": "Two.", **lists})
    assert sorted(found.passages) == ["One.", "Two."]
    assert {(entry.what, entry.reason): entry.count for entry in found.skipped} == {
        ("passages", "that are no object"): 1,
        ("passages", "without text"): 2,
        ("triples", "of a passage without text"): 2,
        ("triples", "that stand in no list"): 2,
        ("entities", "that stand in no list"): 1,
    }
    assert found.summary() == "5 triples of 2 passages, 4 malformed and skipped, 1 entity skipped, 3 passages skipped"


def test_a_passage_given_twice_has_the_rows_of_both(folder: Path) -> None:
    one, two = ["a", "r", "b"], ["b", "r", "c"]
    found = read(folder, doc("One  passage.", one, one), doc("One\npassage.", two, one, entities=["d"]))
    assert found.passages == {"One passage.": Passage(("a", "b", "c", "d"), (("a", "r", "b"), ("b", "r", "c")))}
    assert (found.read, found.repeated) == (4, 2)
    assert found.summary() == "4 triples of 1 passage, 2 given twice"


def test_a_name_related_to_itself_stays_a_name(folder: Path) -> None:
    found = read(folder, doc("One.", ["Novels", "renamed", "novel"]))
    assert found.passages["One."] == Passage(("Novels", "novel"), ())
    assert found.summary() == "1 triple of 1 passage, 1 of a name with itself"


def test_every_script_is_read_in_one_form(folder: Path) -> None:
    found = read(folder, doc("Mu\u0308ller \ud800", ["量子计算", "是", "新的"], ["Mu\u0308ller", "→", "β"]))
    assert list(found.passages) == ["M\u00fcller \ufffd"]
    assert found.passages["M\u00fcller \ufffd"].rows == (("M\u00fcller", "→", "β"), ("量子计算", "是", "新的"))


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
WORD = st.sampled_from(["Rome", "rome", "Italy", "lies in", "", " ", "\u200b", "量子", "∇"])
ROWS = st.lists(st.lists(WORD, min_size=3, max_size=3) | st.lists(WORD | JSON, max_size=4) | JSON, max_size=6)
DOC = st.fixed_dictionaries(
    {"passage": st.sampled_from(["One.", "Two.", "", "Three  words here"]) | JSON},
    optional={
        "title": WORD | JSON, "text": WORD | JSON, "extracted_triples": ROWS | JSON, "extracted_entities": ROWS | JSON,
    },
)  # fmt: skip


@given(docs=st.lists(DOC | JSON, max_size=6), seed=st.randoms(use_true_random=False))
def test_every_row_is_kept_or_counted_whatever_the_order(folder: Path, docs: list[Any], seed: Any) -> None:
    anchor = doc("An anchor.", ["a", "r", "b"])
    found = read(folder, anchor, *docs)
    given_rows = sum(len(d["extracted_triples"]) for d in docs if isinstance(d, dict) and _is_list(d)) + 1
    no_list = sum(e.count for e in found.skipped if (e.what, e.reason) == ("triples", "that stand in no list"))
    kept = sum(len(passage.rows) for passage in found.passages.values())
    assert found.read == given_rows + no_list == kept + found.left_out("triples") + found.repeated + found.loops
    for passage in found.passages.values():
        assert all(map(name_key, passage.names))
        assert {end for s, _, o in passage.rows for end in (s, o)} <= set(passage.names)
        assert all(name_key(s) != name_key(o) and relation.strip() for s, relation, o in passage.rows)
    shuffled = [anchor, *docs]
    seed.shuffle(shuffled)
    again = read(folder, *shuffled)
    assert (again.passages, again.with_text, again.summary()) == (found.passages, found.with_text, found.summary())
    assert _counts(again) == _counts(found)


def _is_list(entry: dict[str, Any]) -> bool:
    return isinstance(entry.get("extracted_triples"), list)


def _counts(found: OpenIE) -> Counter[tuple[str, str]]:
    return Counter({(entry.what, entry.reason): entry.count for entry in found.skipped})


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"", r"are not JSON \(Expecting value at line 1, column 1\)"),
        (b'{"docs": [', "are not JSON"),
        (b"title,text\nRome,Italy\n", "are not JSON"),
        (b"\xff\xfe{\x00", r"are no UTF-8 text \(byte 0\)"),
        (b"[" * 100_000, "are nested too deeply"),
        (b'{"docs": ' + b"[" * 100_000, "are nested too deeply"),
        (b"[]", 'hold no list named "docs"'),
        (b'{"passages": []}', 'hold no list named "docs"'),
        (b'{"docs": {"0": {}}}', 'hold no list named "docs"'),
        (b"null", 'hold no list named "docs"'),
        (b'{"docs": []}', r"hold no passage with text \(0 entries in all\)"),
        (b'{"docs": [1, {"passage": 4}]}', r"hold no passage with text \(2 entries in all\)"),
        (b"7" * 10_000, 'hold no list named "docs"'),
    ],
)
def test_another_file_is_refused_in_a_sentence(tmp_path: Path, raw: bytes, words: str) -> None:
    path = tmp_path / "other.json"
    path.write_bytes(raw)
    with pytest.raises(InputError, match=words) as caught:
        read_openie(path)
    assert str(path) in str(caught.value)
    assert "give an OpenIE file of HippoRAG" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["absent.json", "."])
def test_a_file_that_cannot_be_read_is_refused_in_a_sentence(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_openie(tmp_path / name)


def test_a_number_of_any_length_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "openie.json"
    path.write_text('{"docs": [{"passage": "One.", "extracted_triples": [["a", "b", ' + "7" * 9000 + "]]}]}")
    assert read_openie(path).skipped[0].reason == "with an entry that is no text"


def test_a_byte_order_mark_is_no_part_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "openie.json"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps({"docs": [doc("One.")]}).encode())
    assert list(read_openie(path).passages) == ["One."]


def test_the_file_of_musique_is_read_as_its_counts_say(data: Path) -> None:
    found = read_openie(data / "musique" / "openie_gpt-3.5-turbo.json")
    assert found.summary().startswith("17,419 triples of 1,890 passages, 185 malformed and skipped")
    assert [(entry.what, entry.reason, entry.count) for entry in found.skipped] == [
        ("triples", "not of three entries", 185)
    ]
