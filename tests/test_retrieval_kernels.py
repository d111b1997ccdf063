"""Steps of every kernel against numpy in float64, what it refuses, and which kernel is chosen."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import numpy as np
import psutil
import pytest
import scipy.sparse as sp
import torch

import retrieval.kernels.native as native_kernel
from kg.errors import InputError
from retrieval.kernels import Norms, available_kernels, choose_kernel, describe_choice
from retrieval.kernels.native import WIDTHS, NativeOperator
from retrieval.kernels.protocols import Operator

USABLE = [name for name, reason in available_kernels().items() if reason is None]
needs_native = pytest.mark.skipif("native" not in USABLE, reason="the C++ kernel is not compiled")


def hub_graph(n: int, seed: int = 0) -> sp.csr_matrix:
    """Random, with a row longer than one piece of the native kernel, an empty row and weights of any sign."""
    rng = np.random.default_rng(seed)
    matrix = sp.random(n, n, density=4 / n, random_state=rng, format="lil", dtype=np.float64)
    matrix[n // 3, rng.choice(n, int(0.3 * n), replace=False)] = rng.normal(size=int(0.3 * n))
    matrix[n // 2] = 0.0
    return matrix.tocsr().astype(np.float32)


def prepared(matrix: sp.csr_matrix, kernel: str = "native", **options: int) -> Operator:
    parts = [torch.from_numpy(part) for part in (matrix.indptr, matrix.indices, matrix.data)]
    return NativeOperator(*parts, **options) if options else choose_kernel(kernel).prepare(*parts)


def panels(operator: Operator, width: int, seed: int = 1) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(operator.size, width, generator=generator) for _ in range(3)]


@pytest.mark.parametrize("kernel", USABLE)
@pytest.mark.parametrize("first", [True, False])
def test_a_step_is_the_formula(kernel: str, first: bool) -> None:
    matrix = hub_graph(2000)
    operator = prepared(matrix, kernel)
    assert (operator.size, operator.entries) == (2000, matrix.nnz)
    rng = np.random.default_rng(2)
    weights, mixes = rng.uniform(0.5, 3.0, 2000), ((1.0, 0.3), (-0.2, 0.7))
    for width in operator.widths or (5,):
        previous, current, scores = panels(operator, width)
        coefficient, lead = (torch.from_numpy(rng.normal(size=width).astype(np.float32)) for _ in range(2))
        before = [panel.double().numpy().copy() for panel in (previous, current, scores)]
        norms = operator.step(
            previous, current, scores, coefficient, lead=lead if first else None,
            norms=Norms(torch.from_numpy(weights), mixes),
        )  # fmt: skip
        product = matrix.astype(np.float64) @ before[1]
        new = product if first else 2 * product - before[0]
        start = before[1] * lead.double().numpy() if first else before[2]
        np.testing.assert_allclose(previous.numpy(), new, rtol=1e-5, atol=3e-5)
        np.testing.assert_allclose(scores.numpy(), start + new * coefficient.double().numpy(), rtol=1e-5, atol=6e-5)
        np.testing.assert_array_equal(current.numpy(), before[1])
        assert norms is not None
        held = previous.double().numpy()
        expected = [weights @ np.abs(a * held - c * before[1]) for a, c in mixes]
        np.testing.assert_allclose(norms.numpy(), expected, rtol=1e-12)
        assert operator.step(previous, current, scores, coefficient) is None


@needs_native
def test_a_column_has_the_same_bits_in_every_width_at_every_place_and_with_any_threads() -> None:
    matrix = hub_graph(30_000)
    norms = Norms(torch.rand(30_000, dtype=torch.float64), ((1.0, 0.3), (0.1, 0.2)))
    seen = []
    for width in WIDTHS:
        for threads, place in ((1, 0), (2, width - 1), (5, width // 2)):
            operator = prepared(matrix, threads=threads)
            previous, current, scores = panels(operator, width, seed=width)
            for panel, seed in zip((previous, current, scores), (3, 4, 5), strict=True):
                panel[:, place] = torch.randn(30_000, generator=torch.Generator().manual_seed(seed))
            coefficient = torch.full((width,), 0.7)
            found = [operator.step(previous, current, scores, coefficient, norms=norms) for _ in range(3)]
            seen.append(torch.cat([previous[:, place], scores[:, place], *(norm[:, place].float() for norm in found)]))
            exact = torch.stack([norm[:, place] for norm in found])
            seen[-1] = torch.cat([seen[-1].double(), exact.flatten()])
    assert all(torch.equal(seen[0], other) for other in seen)


@needs_native
def test_concurrent_callers_get_what_one_gets() -> None:
    operator = prepared(hub_graph(30_000), threads=2)
    coefficient = torch.full((16,), 0.5)

    def steps(into: list[torch.Tensor]) -> None:
        previous, current, scores = panels(operator, 16)
        for _ in range(5):
            operator.step(previous, current, scores, coefficient)
            previous, current = current, previous
        into.append(scores)

    alone: list[torch.Tensor] = []
    steps(alone)
    together: list[torch.Tensor] = []
    threads = [threading.Thread(target=steps, args=(together,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(together) == 8
    assert all(torch.equal(scores, alone[0]) for scores in together)


@needs_native
def test_memory_does_not_grow() -> None:
    matrix, norms = hub_graph(5000), Norms(torch.ones(5000, dtype=torch.float64), ((1.0, 0.0), (0.0, 1.0)))

    def work() -> None:
        operator = prepared(matrix)
        with operator.panels(16) as (previous, current):
            operator.step(
                previous, current.zero_(), torch.empty(5000, 16), torch.ones(16), lead=torch.ones(16), norms=norms
            )

    process = psutil.Process()
    for _ in range(20):
        work()
    before = process.memory_info().rss
    for _ in range(200):  # an operator and three panels have 1.3 MB: 260 MB if they stayed
        work()
    assert process.memory_info().rss - before < 20e6


BAD = [
    ({"columns": [0, 2]}, "column 2, but 2"),
    ({"columns": [-1, 0]}, "column -1, but 2"),
    ({"pointers": [0, 2, 1]}, "must rise"),
    ({"pointers": [1, 1, 2]}, "must rise"),
    ({"pointers": [0, 3, 2]}, "must rise"),
    ({"pointers": []}, "one dimension"),
    ({"values": [1.0]}, "2 columns but 1 values"),
    ({"columns": [0.0, 1.0]}, "int32 or int64"),
    ({"values": [1, 2]}, "floating-point"),
]


@pytest.mark.parametrize("kernel", USABLE)
@pytest.mark.parametrize(("change", "words"), BAD)
def test_what_is_no_csr_matrix_is_refused(kernel: str, change: dict[str, list[float]], words: str) -> None:
    parts = {"pointers": [0, 1, 2], "columns": [1, 0], "values": [1.0, 1.0]} | change
    arrays = [torch.tensor(part, dtype=torch.int64) if not part else torch.tensor(part) for part in parts.values()]
    with pytest.raises(InputError, match=words):
        choose_kernel(kernel).prepare(*arrays)


@needs_native
def test_the_compiled_code_checks_for_itself() -> None:
    code = native_kernel._module()
    pointers, columns, values = np.array([0, 1, 2]), np.array([1, 0], np.int32), np.ones(2, np.float32)
    for bad in ([0, 2], [-1, 0], [2**31 - 1, 0]):
        with pytest.raises(ValueError, match="is in column"):
            code.Operator(pointers, np.array(bad, np.int32), values)
    for bad in ([0, 2, 1], [1, 1, 2], [0, -1, 2], [0, 1, 3]):
        with pytest.raises(ValueError, match="row pointers"):
            code.Operator(np.array(bad), columns, values)
    with pytest.raises(ValueError, match="as many"):
        code.Operator(pointers, columns, np.ones(3, np.float32))
    with pytest.raises(TypeError):
        code.Operator(pointers, columns.astype(np.int64), values)
    with pytest.raises(TypeError):
        code.Operator(pointers, columns, values.astype(np.float64))
    with pytest.raises(ValueError, match="one column or more"):
        code.panel(3, 0)


@needs_native
def test_panels_that_do_not_fit_are_refused() -> None:
    operator = prepared(hub_graph(40))
    previous, current, scores = panels(operator, 4)
    four = torch.ones(4)
    for bad, words in (
        ((previous[:39], current, scores, four), "panels must be"),
        ((previous, current, scores, torch.ones(3)), "one coefficient"),
        ((current, current, scores, four), "share memory"),
        ((previous, current, previous, four), "share memory"),
        ((*panels(operator, 5), torch.ones(5)), "not 5"),
    ):
        with pytest.raises(ValueError, match=words):
            operator.step(*bad)
    with pytest.raises(TypeError):
        operator.step(previous.double(), current, scores, four)
    with pytest.raises(TypeError):  # not row-major
        operator.step(previous.T.contiguous().T, current, scores, four)
    norms = Norms(torch.ones(3, dtype=torch.float64), ((1.0, 0.0), (1.0, 0.0)))
    with pytest.raises(ValueError, match="one weight"):
        operator.step(previous, current, scores, four, norms=norms)


@needs_native
def test_panels_are_lent_to_one_caller_at_a_time_and_kept() -> None:
    operator = prepared(hub_graph(40))
    with operator.panels(8) as (one, two), operator.panels(8) as (three, four):
        addresses = [panel.data_ptr() for panel in (one, two, three, four)]
        assert all(panel.shape == (40, 8) and panel.is_contiguous() for panel in (one, two, three, four))
    assert len(set(addresses)) == 4
    with operator.panels(4) as (one, two):
        assert {one.data_ptr(), two.data_ptr()} <= set(addresses)
        assert one.shape == (40, 4)
    with operator.panels(64) as (one, two):
        assert one.shape == (40, 64)


@needs_native
@pytest.mark.parametrize("n", [0, 1])
def test_matrices_without_entries(n: int) -> None:
    operator = prepared(sp.csr_matrix((n, n), dtype=np.float32))
    previous, current, scores = panels(operator, 8)
    expected = scores - previous
    operator.step(previous, current, scores, torch.ones(8))
    assert torch.equal(scores, expected)


def test_the_kernel_is_chosen_by_name_then_variable_then_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EVIGRAPH_KERNEL", raising=False)
    best = "native" if "native" in USABLE else "torch"
    assert choose_kernel().name == best
    assert choose_kernel(device="cuda").name == "torch"
    assert choose_kernel("torch").name == "torch"
    monkeypatch.setenv("EVIGRAPH_KERNEL", "torch")
    assert choose_kernel().name == "torch"
    assert choose_kernel(best).name == best
    assert "EVIGRAPH_KERNEL" in describe_choice() or best == "torch"
    monkeypatch.setenv("EVIGRAPH_KERNEL", "fastest")
    with pytest.raises(InputError, match="no kernel 'fastest'; use one of native, torch"):
        choose_kernel()


def test_without_the_compiled_code_torch_is_chosen_and_the_reason_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EVIGRAPH_KERNEL", raising=False)
    monkeypatch.setitem(sys.modules, "retrieval.kernels._native", None)
    assert choose_kernel().name == "torch"
    assert "compiler" in str(available_kernels()["native"])
    assert describe_choice().startswith("torch (not native: it was not compiled")
    with pytest.raises(InputError, match="'native' cannot be used: it was not compiled"):
        choose_kernel("native")


def test_the_torch_sparse_kernel_says_why_it_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    if "torch_sparse" not in USABLE:
        with pytest.raises(InputError, match="torch_sparse"):
            choose_kernel("torch_sparse")
    (tmp_path / "torch_sparse.py").write_text("raise OSError('undefined symbol: x')", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "torch_sparse", raising=False)
    assert available_kernels()["torch_sparse"] == "torch_sparse does not load: undefined symbol: x"


FAKE = """
import torch
class SparseTensor:
    def __init__(self, *, rowptr, col, value, sparse_sizes, is_sorted, trust_data):
        self.matrix = torch.sparse_csr_tensor(rowptr, col, value, size=sparse_sizes, check_invariants=True)
def matmul(src, other, reduce):
    return {"sum": src.matrix}[reduce] @ other
"""


@pytest.mark.skipif("torch_sparse" in USABLE, reason="torch_sparse itself is tested")
def test_steps_by_torch_sparse_are_those_of_torch(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "torch_sparse.py").write_text(FAKE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "torch_sparse", raising=False)
    found = []
    for kernel in ("torch", "torch_sparse"):
        operator = prepared(hub_graph(50), kernel)
        previous, current, scores = panels(operator, 8)
        operator.step(previous, current, scores, torch.full((8,), 0.3), lead=torch.ones(8))
        operator.step(current, previous, scores, torch.full((8,), 0.2))
        found.append(torch.cat([previous, current, scores]))
    sys.modules.pop("torch_sparse")
    assert torch.allclose(found[0], found[1], atol=1e-5)


@needs_native
def test_the_native_kernel_stays_on_the_cpu() -> None:
    with pytest.raises(InputError, match="on the CPU, not on cuda"):
        choose_kernel("native", "cuda")
