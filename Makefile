# Everything runs in .venv, with an editable install: tests import the tree they stand in.
# An install is repeated when the build's inputs changed. PYTHON=python3.12 picks a Python.
PYTHON ?= python3
BIN := .venv/bin
BUILD_INPUTS := pyproject.toml setup.py MANIFEST.in $(wildcard csrc/* csrc/*/*)
CMAKE_FLAGS := -DPYSPEC_WERROR=ON
MAKEFLAGS += --no-print-directory
# Hundreds of tests start a process of their own: none compiles the package once more.
unexport PYTHONDONTWRITEBYTECODE
JOBS ?= $(shell getconf _NPROCESSORS_ONLN)
# A process per core, each with its part of the tests in their order, so that what a file shares is
# made once; who is done takes half of what another has left.
PYTEST = $(BIN)/python -m pytest -n $(JOBS) --dist worksteal -q
CTEST = $(BIN)/ctest --output-on-failure --parallel $(JOBS)

.PHONY: demo docs test check bench scale lint wheels check-wheels check-c check-clang check-sanitize check-threads \
    check-arm64 check-valgrind check-slow check-isa check-versions coverage fuzz fuzz-plans \
    fuzz-definitions fuzz-formulas mutants soak \
    clean

demo: .venv/plot.stamp
	$(BIN)/pyspec demo

# The site: build/docs/index.html. The tutorials are run; warnings are errors.
docs: .venv/docs.stamp
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs build/docs

# All tests of the Python side but the slow ones.
test: .venv/test.stamp
	$(PYTEST)

# All of these again, on the kernels for narrower processors and with the oldest and the newest dependencies.
# TESTS names a part of them: make check-isa TESTS=tests/fit.
TESTS ?=
check-isa: .venv/test.stamp
	@for isa in $$($(BIN)/python -c \
	    "from pyspec._library import supported_isas; print(*supported_isas()[:-1])"); do \
	    echo "== PYSPEC_ISA=$$isa"; PYSPEC_ISA=$$isa $(PYTEST) $(TESTS) || exit 1; \
	done
check-versions: .venv/dev.stamp
	JOBS=$(JOBS) tests/packaging/versions $(TESTS)

# What `make test` does not run: style and types, the C side, and tests of thousands of models.
check: lint check-c check-sanitize check-threads check-slow

bench: .venv/bench.stamp
	$(BIN)/python -m bench.ablation --json build/ablation.json

# Fits of 4e9 bytes by reference, half an hour and 11 GB of disk; SHARE=0.1 takes a tenth of both.
SHARE ?= 1
scale: .venv/test.stamp
	$(BIN)/python -m bench.scale --share $(SHARE) --json build/scale.json

lint: .venv/dev.stamp
	$(BIN)/ruff format --check . && $(BIN)/ruff check . && $(BIN)/mypy

check-c: .venv/dev.stamp
	$(BIN)/cmake -S . -B build/plain $(CMAKE_FLAGS)
	$(BIN)/cmake --build build/plain --parallel $(JOBS) && $(CTEST) --test-dir build/plain

# The same by clang, then the Python tests of equal bits on its library; skipped where it is absent.
CLANG ?= clang
BITS = bits or neighbour or same or window or partials or column
check-clang: .venv/dev.stamp .venv/test.stamp
	@if ! command -v $(CLANG); then echo "check-clang skipped: needs $(CLANG)"; \
	else \
	    $(BIN)/cmake -S . -B build/clang $(CMAKE_FLAGS) -DCMAKE_C_COMPILER=$(CLANG) \
	    && $(BIN)/cmake --build build/clang --parallel $(JOBS) && $(CTEST) --test-dir build/clang \
	    && tests/packaging/with_library build/clang/libpyspec.so -n $(JOBS) --dist worksteal -q \
	        -k "$(BITS)" tests/functions tests/formula tests/executor tests/fit; \
	fi

check-sanitize: .venv/dev.stamp .venv/test.stamp
	$(BIN)/cmake -S . -B build/sanitize $(CMAKE_FLAGS) -DPYSPEC_SANITIZE=ON -DPYSPEC_FUZZ_PLANS=20000
	$(BIN)/cmake --build build/sanitize --parallel $(JOBS) && $(CTEST) --test-dir build/sanitize
	$(MAKE) --jobs=$(JOBS) --output-sync=target fuzz-plans fuzz-definitions fuzz-formulas

# A fixed share of what `make fuzz` does without end, each on a core of its own.
fuzz-plans:
	$(BIN)/python -m tests.fuzz.plans --runs 6000
fuzz-definitions:
	PYTHONPATH=tests $(BIN)/python -m fuzz.definitions --runs 30000
fuzz-formulas:
	build/sanitize/test_formula 100000

# Wheels for eight systems into dist/, built here by the clang of the package ziglang: wheels.txt.
# ONLY=win_amd64 builds that one.
ONLY ?=
wheels: .venv/wheels.stamp
	$(BIN)/python tests/packaging/make_wheels.py $(ONLY)

# The unit tests in C with the objects of the wheels: here, for arm64, with musl and under Wine: apt install
# qemu-user libc6-arm64-cross musl wine wine64. What is absent is skipped. Then Python tests under Wine.
# ARGS="--smoke arm64" runs a share, ARGS="arm64 test_fit" and ARGS="python tests/plan" what they name.
ARGS ?=
check-wheels: .venv/wheels.stamp
	$(BIN)/python tests/packaging/check_wheels.py $(ARGS)

# Threads that share a fit, under the thread sanitizer.
check-threads: .venv/dev.stamp
	$(BIN)/cmake -S . -B build/threads $(CMAKE_FLAGS) -DPYSPEC_THREADS=ON
	$(BIN)/cmake --build build/threads --parallel $(JOBS) --target test_team test_span test_beside
	build/threads/test_team && build/threads/test_span && build/threads/test_beside

# The unit tests in C for arm64, run by an emulator that is slow: apt install gcc-aarch64-linux-gnu
# libc6-dev-arm64-cross qemu-user. Skipped where these are absent.
ARM64_CC ?= aarch64-linux-gnu-gcc
ARM64_RUN ?= qemu-aarch64
check-arm64: .venv/dev.stamp
	@if ! command -v $(ARM64_CC) || ! command -v $(ARM64_RUN); then \
	    echo "check-arm64 skipped: needs $(ARM64_CC) and $(ARM64_RUN)"; \
	else \
	    $(BIN)/cmake -S . -B build/arm64 $(CMAKE_FLAGS) -DCMAKE_SYSTEM_NAME=Linux \
	        -DCMAKE_SYSTEM_PROCESSOR=aarch64 -DCMAKE_C_COMPILER=$(ARM64_CC) -DPYSPEC_FUZZ_PLANS=2000 \
	        "-DCMAKE_CROSSCOMPILING_EMULATOR=$(ARM64_RUN);-L;/usr/aarch64-linux-gnu" \
	    && $(BIN)/cmake --build build/arm64 --parallel $(JOBS) \
	    && $(CTEST) --test-dir build/arm64 --timeout 7200; \
	fi

# The unit tests in C under valgrind, which has no AVX-512: the tests take the narrower kernels there.
# Skipped where it is absent.
VALGRIND = valgrind --quiet --error-exitcode=99 --leak-check=full
check-valgrind: .venv/dev.stamp
	@if ! command -v valgrind; then echo "check-valgrind skipped: needs valgrind"; \
	else \
	    $(BIN)/cmake -S . -B build/valgrind $(CMAKE_FLAGS) -DPYSPEC_FUZZ_PLANS=200 \
	        && $(BIN)/cmake --build build/valgrind --parallel $(JOBS) \
	        && for test in build/valgrind/test_*; do $(VALGRIND) $$test || exit 1; done; \
	fi

# Plans, texts and files for as long as FUZZ says; what reaches new branches stays in tests/fuzz/.
FUZZ ?= 1000000
fuzz: .venv/test.stamp
	$(BIN)/python -m tests.fuzz.plans --runs $(FUZZ) --save
	build/sanitize/fuzz_amplitudes $(FUZZ)
	PYTHONPATH=tests $(BIN)/python -m fuzz.guided formula --runs $(FUZZ) --save
	PYTHONPATH=tests $(BIN)/python -m fuzz.definitions --runs $(FUZZ)
	build/sanitize/test_formula $(FUZZ)
	PYTHONPATH=tests $(BIN)/python -m fuzz.guided yaml --runs $$(($(FUZZ) / 10)) --save
	PYTHONPATH=tests $(BIN)/python -m fuzz.guided readers --runs $$(($(FUZZ) / 100))

# Small wrong changes to the checks: which of them no unit test notices.
mutants: .venv/test.stamp
	$(BIN)/python -m tests.mutants

# A million evaluations, 10,000 fits, 10,000 Files: memory stays flat.
soak: .venv/test.stamp
	$(BIN)/python -m tests.campaign.soak

# SLOW=4 runs every fourth of them, as .ci/run does: all take an hour. Whole files, since what a file
# shares takes minutes; in their order: else the longest, which hold one test each, would come last.
SLOW ?= 1
check-slow: .venv/test.stamp .venv/docs.stamp
	$(PYTEST) --dist loadfile --no-loadscope-reorder -m slow --every $(SLOW)

# Branch coverage: of the package by `make test`, of csrc/ by the unit tests in C. Kernels for AVX-512
# are left out where the processor lacks it, and the table of statuses, which only tests branch on.
coverage: .venv/dev.stamp
	$(PYTEST) --cov --cov-report=term:skip-covered
	$(BIN)/cmake -S . -B build/coverage $(CMAKE_FLAGS) -DPYSPEC_COVERAGE=ON -DPYSPEC_FUZZ_PLANS=20000
	$(BIN)/cmake --build build/coverage --parallel $(JOBS) && $(CTEST) --test-dir build/coverage
	grep -q avx512f /proc/cpuinfo || find build/coverage -name '*_avx512*.gc*' -delete
	$(BIN)/gcovr --root . --filter csrc/ --exclude csrc/tables/status.def \
	    --gcov-suspicious-hits-threshold 0 --txt-metric branch build/coverage

clean:
	rm -rf build dist .venv *.egg-info pyspec/_library/libpyspec.*

.venv/%.stamp: $(BUILD_INPUTS) | .venv/bin/python
	@echo "Installing pyspec with the extra '$*' into .venv: once, it takes a minute or more ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$*]'
	@mkdir -p build && touch $@

.venv/bin/python:
	$(PYTHON) -m venv .venv
