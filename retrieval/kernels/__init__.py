"""Kernels of diffusion: ``torch`` runs everywhere, ``native`` (C++) on CPUs, ``torch_sparse`` where it is installed."""

from __future__ import annotations

import os

import torch

from kg.errors import InputError
from retrieval.kernels import native, torch_sparse
from retrieval.kernels.native import NativeKernel
from retrieval.kernels.protocols import Kernel, Norms, Operator
from retrieval.kernels.reference import TILE, TorchKernel
from retrieval.kernels.torch_sparse import TorchSparseKernel

VARIABLE = "EVIGRAPH_KERNEL"
"""Environment variable that names the kernel where a caller does not."""

__all__ = ["TILE", "VARIABLE", "Kernel", "Norms", "Operator", "available_kernels", "choose_kernel", "describe_choice"]


def available_kernels() -> dict[str, str | None]:
    """Every kernel there is, and why it cannot be used here: None where it can."""
    return {"native": native.missing(), "torch": None, "torch_sparse": torch_sparse.missing()}


def choose_kernel(name: str | None = None, device: torch.device | str = "cpu") -> Kernel:
    """The kernel named, else the one that ``EVIGRAPH_KERNEL`` names, else ``native`` on the CPU if it can be used, else
    ``torch``.

    Raises ``InputError`` for a name that is unknown or a kernel that cannot be used on this machine or device.
    """
    name = name or os.environ.get(VARIABLE) or None
    on_cpu = torch.device(device).type == "cpu"
    if name is None:
        return NativeKernel() if on_cpu and native.missing() is None else TorchKernel()
    kernels = available_kernels()
    if name not in kernels:
        raise InputError(f"There is no kernel {name!r}; use one of {', '.join(kernels)}.")
    if (reason := kernels[name]) is not None:
        raise InputError(f"The kernel {name!r} cannot be used: {reason}. The kernel 'torch' always can.")
    if name == "native" and not on_cpu:
        raise InputError(f"The kernel 'native' runs on the CPU, not on {device}; use 'torch'.")
    made: dict[str, type[Kernel]] = {"native": NativeKernel, "torch": TorchKernel, "torch_sparse": TorchSparseKernel}
    return made[name]()


def describe_choice() -> str:
    """Which kernel a graph on the CPU is diffused with, and, where it is not the fastest, why not that one."""
    name, reason = choose_kernel().name, native.missing()
    if name == "native":
        return name
    return f"{name} (not native: {reason or f'{VARIABLE} says so'})"
