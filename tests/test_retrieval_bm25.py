from __future__ import annotations

from math import log
from pathlib import Path

import pytest
import torch

from kg.errors import InputError
from retrieval.bm25 import METASYN, OKAPI, BM25Config, BM25Index, fold_plural, words

TEXTS = ["cat dog", "cat cat bird", "fish", "dog bird bird fish"]  # lengths 2, 3, 1, 4; mean 2.5


def test_scores_by_hand():
    # idf of a word in 2 of 4 texts: ln(1 + (4 - 2 + .5) / (2 + .5)) = ln 2; k1 .9, b .4
    def share(count, length):
        return log(2) * count / (count + 0.9 * (1 - 0.4 + 0.4 * length / 2.5))

    index = BM25Index(TEXTS)
    [(scores, indices)] = index.search(["cat bird"], 10)
    assert indices.tolist() == [1, 3, 0]
    assert scores.tolist() == pytest.approx([share(2, 3) + share(1, 3), share(2, 4), share(1, 2)], rel=1e-6)
    [(twice, _)] = index.search(["cat cat"], 1)
    assert twice.tolist() == pytest.approx([2 * share(2, 3)], rel=1e-6)
    assert scores.dtype == torch.float32
    assert len(index) == 4


def test_metasyn_scores_by_hand():
    # Okapi: idf ln((4 - 1 + .5) / (1 + .5)), (k1 + 1) in the numerator; k1 1.5, b .75; "up" is too short a word
    texts = ["statin trial up", "trial of trials", "trial placebo", "aspirin"]
    index = BM25Index(texts, METASYN)
    [(scores, indices)] = index.search(["statin up"], 10)
    mean = (2 + 2 + 2 + 1) / 4
    assert indices.tolist() == [0]
    assert scores.tolist() == pytest.approx([log(3.5 / 1.5) * 2.5 / (1 + 1.5 * (0.25 + 0.75 * 2 / mean))], rel=1e-6)
    # In three texts of four: idf is cut at 0, and a list ends at score 0.
    assert [len(scores) for scores, _ in index.search(["trial", "trial aspirin", "up"], 10)] == [0, 1, 0]


def test_ties_by_index_and_k_beyond_the_corpus():
    index = BM25Index(["no match", "same words", "other", "same words", "same words"])
    for k, expected in ((2, [1, 3]), (3, [1, 3, 4]), (50, [1, 3, 4]), (0, [])):
        [(scores, indices)] = index.search(["words same"], k)
        assert indices.tolist() == expected
        assert len(set(scores.tolist())) <= 1


def test_order_of_query_words_changes_no_bit():
    index = BM25Index(["alpha beta gamma delta epsilon", "gamma beta", "alpha epsilon zeta"])
    query = "alpha beta gamma delta epsilon"
    here, there = index.search([query, " ".join(reversed(query.split()))], 5)
    assert torch.equal(here[0], there[0])


@pytest.mark.parametrize("config", [BM25Config(), OKAPI, METASYN])
@pytest.mark.parametrize("texts", [[], [""], ["", "of", "!?"], ["cat", ""]])
def test_nothing_to_find(texts, config, capsys):
    index = BM25Index(texts, config)
    for scores, indices in index.search(["", "the", "unknown words", "…"], 5):
        assert scores.tolist() == []
        assert indices.tolist() == []
        assert indices.dtype == torch.int64
    assert index.search([], 5) == []
    assert capsys.readouterr() == ("", "")


def test_words_of_many_scripts():
    assert words("The Supply-chains of naïve Müller: 2 p53_mutants") == [
        "suppli", "chain", "naïve", "müller", "2", "p53", "mutant",
    ]  # fmt: skip
    assert words("shape shapes shaping", BM25Config(stemmer="plural")) == ["shape", "shape", "shaping"]
    assert words("shape shapes shaping") == ["shape"] * 3
    assert words("ﬁne STRASSE Straße", BM25Config(stemmer="none")) == ["fine", "strasse", "strasse"]
    assert words("量子计算 and 猫, ｶﾀｶﾅ") == ["量子", "子计", "计算", "猫", "カタ", "タカ", "カナ"]
    assert words("β-VAE在2019年提出") == ["β", "vae", "在", "2019", "年提", "提出"]
    assert words("양자 컴퓨팅은") == ["양자", "컴퓨", "퓨팅", "팅은"]
    assert words("क्वांटम कंप्यूटिंग") == ["क्वांटम", "कंप्यूटिंग"]
    assert words("") == words("—") == []


def test_words_as_configured():
    plain = BM25Config(stop_words="none", stemmer="none", min_length=3)
    assert words("the cats of an ox 量子", plain) == ["the", "cats", "量子"]


@pytest.mark.parametrize(
    ("plural", "singular"),
    [
        ("chains", "chain"), ("studies", "study"), ("diseases", "disease"), ("heroes", "heroe"), ("virus", "virus"),
        ("loss", "loss"), ("gas", "gas"), ("chain", "chain"), ("trees", "tree"),
    ],
)  # fmt: skip
def test_fold_plural(plural, singular):
    assert fold_plural(plural) == singular


def test_chinese_is_found_by_its_characters():
    index = BM25Index(["量子计算的进展", "经典计算", "猫"])
    assert [indices.tolist() for _, indices in index.search(["量子计算", "猫"], 5)] == [[0, 1], [2]]


def test_refuses():
    with pytest.raises(InputError, match="put the one query into a list"):
        BM25Index(TEXTS).search("cat", 3)
    with pytest.raises(InputError, match="k is -1"):
        BM25Index(TEXTS).search(["cat"], -1)
    with pytest.raises(InputError, match="b in"):
        BM25Config(b=1.5)
    with pytest.raises(InputError, match="k1"):
        BM25Config(k1=-0.1)


def test_words_of_scripts_without_spaces_are_found_inside_running_text() -> None:
    index = BM25Index(["เศรษฐกิจและตลาดแรงงานมีความเสี่ยงสูงขึ้น", "ดนตรีไทย"])
    ((_, found),) = index.search(["ตลาดแรงงาน"], 5)
    assert found.tolist() == [0]


def test_frequency_counts_texts(tmp_path: Path) -> None:
    index = BM25Index(["loss and loss", "loss of trade", "gain"])
    assert [index.frequency(word) for word in ("loss", "gain", "unknown")] == [2, 1, 0]
    index.save(tmp_path)
    assert BM25Index.load(tmp_path).frequency("loss") == 2
    assert BM25Index([]).frequency("loss") == 0
