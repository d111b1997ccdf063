# Everything runs in .venv; `make demo` and `make test` set it up themselves.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DEMO ?= demo_out
WORKERS ?= 2

.PHONY: setup demo test check format bench sanitize screenshots browser-tools clean

setup: $(STAMP)

$(STAMP): pyproject.toml setup.py constraints.txt $(wildcard retrieval/kernels/*pp)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "evigraph needs Python 3.11 or newer; run make PYTHON=/path/to/python3.11"; exit 2; }
	@$(PYTHON) -m venv $(VENV) || { echo "python3 has no venv module; on Debian: apt-get install python3-venv"; exit 2; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt torch
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[cpu,dev]'
	@touch $@

demo: setup
	@$(BIN)/python scripts/demo.py --out $(DEMO)

test: setup
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile

check: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: setup
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: setup
	$(BIN)/python scripts/bench_build.py
	$(BIN)/python scripts/bench_merge.py
	$(BIN)/python scripts/bench_report.py
	$(BIN)/python scripts/bench_export.py
	$(BIN)/python scripts/bench_diffusion.py

# The C++ kernel of diffusion under AddressSanitizer and UndefinedBehaviorSanitizer.
sanitize: setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check pybind11
	PYTHON=$(BIN)/python bash scripts/sanitize_kernels.sh

screenshots: setup
	$(BIN)/python -m scripts.screenshots

# What the tests marked `browser` look at reports with; without it they are skipped. Debian, as root.
browser-tools:
	apt-get update -qq
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
		chromium libreoffice-writer-nogui poppler-utils fonts-noto-core fonts-noto-cjk

clean:
	rm -rf $(VENV) $(DEMO) .pytest_cache .mypy_cache .ruff_cache .hypothesis
