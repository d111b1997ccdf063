"""One process alone here; two of them in test_scripts_evaluate_retrieval."""

from __future__ import annotations

import pytest

from retrieval.batch import Share
from scripts.processes import Processes


@pytest.mark.parametrize("size", [None, "1"])
def test_one_process_does_all_and_waits_for_nobody(monkeypatch: pytest.MonkeyPatch, size: str | None) -> None:
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    if size is not None:
        monkeypatch.setenv("WORLD_SIZE", size)
    with Processes() as processes:
        assert processes.share == Share(0, 1)
        assert processes.is_first
        processes.wait()


def test_several_are_asked_for_their_number_and_left_only_after_success(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []

    class State:
        process_index, num_processes = 1, 3

        def __init__(self, **settings: object) -> None:
            calls.append("start")

        def wait_for_everyone(self) -> None:
            calls.append("wait")

        def destroy_process_group(self) -> None:
            calls.append("leave")

    monkeypatch.setattr("accelerate.PartialState", State)
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "3")
    with Processes() as processes:
        assert processes.share == Share(1, 3)
        assert not processes.is_first
        processes.wait()
    assert calls == ["start", "wait", "leave"]
    with pytest.raises(RuntimeError), Processes():
        raise RuntimeError
    assert calls[3:] == ["start"]
