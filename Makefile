# Everything runs in .venv, with an editable install: tests import the tree they stand in.
# An install is repeated when the build's inputs changed. PYTHON=python3.12 picks a Python.
PYTHON ?= python3
BIN := .venv/bin
BUILD_INPUTS := pyproject.toml setup.py MANIFEST.in $(wildcard csrc/*)
CMAKE_FLAGS := -DPYSPEC_WERROR=ON
MAKEFLAGS += --no-print-directory

.PHONY: demo test check bench lint check-c check-sanitize clean

demo: .venv/plot.stamp
	$(BIN)/pyspec demo

test: .venv/test.stamp
	$(BIN)/python -m pytest

check: lint check-c check-sanitize
	$(BIN)/python -m pytest

bench: .venv/bench.stamp
	$(BIN)/python -m bench.ablation --json build/ablation.json

lint: .venv/dev.stamp
	$(BIN)/ruff format --check . && $(BIN)/ruff check . && $(BIN)/mypy

check-c: .venv/dev.stamp
	$(BIN)/cmake -S . -B build/plain $(CMAKE_FLAGS)
	$(BIN)/cmake --build build/plain --parallel && $(BIN)/ctest --test-dir build/plain --output-on-failure

check-sanitize: .venv/dev.stamp
	$(BIN)/cmake -S . -B build/sanitize $(CMAKE_FLAGS) -DPYSPEC_SANITIZE=ON -DPYSPEC_FUZZ_PLANS=100000
	$(BIN)/cmake --build build/sanitize --parallel && $(BIN)/ctest --test-dir build/sanitize --output-on-failure

clean:
	rm -rf build dist .venv *.egg-info pyspec/_library/libpyspec.*

.venv/%.stamp: $(BUILD_INPUTS) | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$*]'
	@mkdir -p build && touch $@

.venv/bin/python:
	$(PYTHON) -m venv .venv
