"""A tiny BEIR folder: eight papers, six questions, two splits."""

from __future__ import annotations

import json
from pathlib import Path

PAPERS = {
    "d1": "Vitamin D lowers the risk of bone fractures in older adults.",
    "d2": "Calcium and vitamin D together strengthen bone.",
    "d3": "The equity premium rewards investors for risk.",
    "d4": "Loss aversion explains the equity premium puzzle.",
    "d5": "Vaccines lower the risk of influenza in older adults.",
    "d6": "Influenza vaccines and herd immunity in schools.",
    "d7": "Interest rates move with inflation and risk.",
    "d8": "Sunlight makes the skin form vitamin D.",
}
QUERIES = {
    "q1": "Does vitamin D prevent fractures?",
    "q2": "Why is there an equity premium?",
    "q3": "Do vaccines help against influenza?",
    "q4": "What do interest rates depend on?",
    "q5": "How does the body get vitamin D?",
    "q6": "Which risk do investors bear?",
}
QRELS = {
    "dev": {
        "q1": {"d1": 2, "d2": 1, "d5": 0},
        "q2": {"d3": 1, "d4": 1},
        "q3": {"d5": 1, "d6": 1},
        "q4": {"d7": 1},
        "q5": {"d8": 1, "d2": 1},
    },
    "test": {"q6": {"d3": 1, "d7": 1}, "q1": {"d8": 0}},
}


def write_beir(folder: Path, **metadata: dict[str, object]) -> Path:
    """Write the folder; ``metadata`` by query id."""
    (folder / "qrels").mkdir(parents=True)
    corpus = [{"_id": key, "title": f"Paper {key}", "text": text} for key, text in PAPERS.items()]
    queries = [{"_id": key, "text": text, "metadata": metadata.get(key, {})} for key, text in QUERIES.items()]
    for name, records in (("corpus", corpus), ("queries", queries)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    for split, judged in QRELS.items():
        rows = [f"{query}\t{document}\t{score}\n" for query, own in judged.items() for document, score in own.items()]
        (folder / "qrels" / f"{split}.tsv").write_text("query-id\tcorpus-id\tscore\n" + "".join(rows))
    return folder
