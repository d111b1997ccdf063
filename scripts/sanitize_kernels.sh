#!/usr/bin/env bash
# The C++ kernel, compiled with AddressSanitizer and UndefinedBehaviorSanitizer, under its tests.
#
#     make sanitize        (or: PYTHON=python bash scripts/sanitize_kernels.sh)
#
# Needs GCC and pybind11. Builds beside the checkout's own extension in a temporary copy, which it removes.
set -euo pipefail
cd "$(dirname "$0")/.."
python=$(realpath -s "$(command -v "${PYTHON:-python3}")")  # a link, as of an environment, stays one
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -r kg retrieval tests pyproject.toml "$copy"
cd "$copy"
rm -f retrieval/kernels/_native*
includes=$("$python" -m pybind11 --includes)
suffix=$("$python" -c 'import sysconfig; print(sysconfig.get_config_var("EXT_SUFFIX"))')
# shellcheck disable=SC2086
g++ -std=c++17 -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all \
  -fopenmp -ffp-contract=off -Wall -Wextra -fPIC -shared -fvisibility=hidden $includes \
  retrieval/kernels/native.cpp -o "retrieval/kernels/_native$suffix"
# Python itself is not instrumented: the runtime is loaded first, and what Python keeps at its end is no leak of ours.
# With -s and without faulthandler, what a sanitizer says before it ends the process is seen.
LD_PRELOAD="$(g++ -print-file-name=libasan.so) $(g++ -print-file-name=libubsan.so) $(g++ -print-file-name=libstdc++.so.6)" \
  ASAN_OPTIONS=detect_leaks=0:halt_on_error=1 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 \
  PYTHONPATH=".${PYTHONPATH:+:$PYTHONPATH}" "$python" -m pytest -q -s -p no:faulthandler -p no:cacheprovider --deselect \
  tests/test_retrieval_kernels.py::test_memory_does_not_grow tests/test_retrieval_kernels.py
