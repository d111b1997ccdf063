"""The one part that pyproject.toml cannot describe: the C++ kernel of diffusion.

It is optional: where it cannot be compiled, the installation goes on and diffusion runs on PyTorch's kernel, which
`evigraph info` tells. In a checkout, `python setup.py build_ext --inplace` builds it alone.
"""

from __future__ import annotations

from pybind11.setup_helpers import Pybind11Extension
from setuptools import setup

native = Pybind11Extension(
    "retrieval.kernels._native",
    ["retrieval/kernels/native.cpp"],
    depends=["retrieval/kernels/steps.hpp"],
    cxx_std=17,
    # No -march: the code picks its vectors when it runs. Nothing fused or reordered unasked: see steps.hpp.
    extra_compile_args=["-O3", "-fopenmp", "-ffp-contract=off", "-Wall", "-Wextra"],
    extra_link_args=["-fopenmp"],
    optional=True,
)

setup(ext_modules=[native])
