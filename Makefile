# make demo   the main job on bundled data
# make test   what every change must pass (minutes)
# make slow   the slow tests: kernels under sanitizers, papers in small, long runs, kills
# make papers the tests of the papers' experiments alone
# make coverage which lines of src/ and page/src the tests of `make test` run (needs Node.js)
# make page   bundle the explorer's page into the source tree (needs Node.js), for work on it
# make docs   the site, in build/docs (offline, no warnings)
# make wheel  sdist and wheels, repaired, installed into new environments, and tested there
# make bench  the promised figures, growth, and every task beside its peers (benchmarks/RESULTS.md; PEERS=folder of their environments)
# make faults processes killed, disks full, clusters lost, new random examples: what was tried, and what it cost (20 minutes)

VENV := .venv
PEERS ?= build/peers
BIN := $(VENV)/bin
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python; do \
  $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
CXX := $(shell for c in $(CXX) c++ g++ clang++; do command -v $$c >/dev/null 2>&1 && echo $$c && break; done)
SOURCES := pyproject.toml CMakeLists.txt README.md \
  $(shell find native src page -type f -not -name '*.so' -not -name '*.pyc' -not -path '*/node_modules/*' -not -path '*/static/*')
SANITIZE := -std=c++17 -g1 -Wall -Wextra -fno-omit-frame-pointer -fno-sanitize-recover=all -pthread -Inative $(STRICT)

RELEASE := -std=c++17 -O3 -DNDEBUG -ffp-contract=off -Wall -Wextra -pthread -Inative $(STRICT)
KERNELS := build/kernels-address build/kernels-thread build/kernels-release build/kernels-portable
PYTEST := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest

.PHONY: demo test slow papers coverage page page-check bench faults docs wheel lint types layers units kernels sanitizers clean needs
.DELETE_ON_ERROR:

demo: $(VENV)/.installed
	$(BIN)/consilience demo --output consilience-demo

# Checks that take one core go on beside the unit tests.
test: needs
	@$(MAKE) --no-print-directory -j3 $(VENV)/.tested page-check kernels lint types layers units

page: page/node_modules/.installed
	cd page && node build.mjs

# Format, lint, types and unit tests of the page, where Node.js is there; and that the package has it.
page-check: $(VENV)/.wheel
	@if command -v npm >/dev/null; then (cd page && npm run --silent check) && $(BIN)/python -m zipfile -l build/wheel/*.whl | grep -q static/explorer.js; \
	else echo "the explorer's page is not checked: that needs Node.js and npm"; fi

page/node_modules/.installed: page/package-lock.json
	cd page && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error && npx esbuild --version >/dev/null
	@touch $@

lint: $(VENV)/.dependencies
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dependencies
	$(BIN)/mypy

layers: $(VENV)/.tested
	$(BIN)/lint-imports

# Threads of the tests would only wait for each other. A file stays with one worker, so that what its tests share is made once.
# One process collects them first: what it compiles, all workers and the next run find.
UNITS := -q -m 'not slow' tests --pyargs consilience --doctest-modules
units: $(VENV)/.tested
	@mkdir -p build
	@PYTHONDONTWRITEBYTECODE= $(PYTEST) --collect-only $(UNITS) >build/collected.txt || { cat build/collected.txt; exit 1; }
	PYTHONDONTWRITEBYTECODE= $(PYTEST) -n 3 --dist loadfile $(UNITS)

slow: $(VENV)/.tested
	@$(MAKE) --no-print-directory sanitizers
	$(PYTEST) -q -n 3 --dist loadfile -m slow tests papers/tests

papers: $(VENV)/.tested
	$(PYTEST) -q -n 2 --dist loadfile papers/tests

# Not part of `make test`: the tracing takes half as long again. Of the page, what its unit tests run and what the tests' browser runs.
coverage: $(VENV)/.tested page/node_modules/.installed
	rm -rf build/page-coverage && cd page && node build.mjs ../build/page-coverage --plain
	NODE_V8_COVERAGE=$(CURDIR)/build/page-coverage/node node --test page/test/ >/dev/null
	CONSILIENCE_PAGE_COVERAGE=$(CURDIR)/build/page-coverage OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -q -n 2 --dist loadfile -m 'not slow' tests --pyargs consilience --doctest-modules --cov --cov-fail-under=92
	$(BIN)/python tests/page_coverage.py build/page-coverage 80

# The kernels' own tests: as they are shipped, and under the address, undefined-behavior and thread sanitizers.
kernels: needs build/kernels-release
	build/kernels-release

sanitizers: needs
	@$(MAKE) --no-print-directory -j2 $(KERNELS)
	@for test in $(KERNELS); do echo $$test; $$test || exit 1; done

build/kernels-address: tests/native/test_kernels.cpp $(wildcard native/*.hpp)
	@mkdir -p build
	$(CXX) $(SANITIZE) -O0 -fsanitize=address,undefined $< -o $@

build/kernels-thread: tests/native/test_kernels.cpp $(wildcard native/*.hpp)
	@mkdir -p build
	$(CXX) $(SANITIZE) -O1 -fsanitize=thread $< -o $@

build/kernels-release: tests/native/test_kernels.cpp $(wildcard native/*.hpp)
	@mkdir -p build
	$(CXX) $(RELEASE) $< -o $@

build/kernels-portable: tests/native/test_kernels.cpp $(wildcard native/*.hpp)
	@mkdir -p build
	$(CXX) $(RELEASE) -DCONSILIENCE_PORTABLE $< -o $@

docs: $(VENV)/.documented
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs build/docs && echo build/docs/index.html

$(VENV)/.documented: $(VENV)/.tested
	$(BIN)/python -m pip install --quiet --disable-pip-version-check ".[docs]"
	@touch $@

wheel: page needs
	PYTHON=$(PYTHON) DEPENDENCIES=$(DEPENDENCIES) bash tests/wheel/run

bench: $(VENV)/.tested
	$(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks.growth
	$(BIN)/python -m benchmarks.beside --install --peers $(PEERS)

faults: $(VENV)/.tested
	CONSILIENCE_KILLS=100 $(BIN)/python -m pytest tests/test_store_kills.py -q
	CONSILIENCE_EXAMPLES=random $(PYTEST) -q -m hypothesis tests
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 PYTHONPATH=tests $(BIN)/python -m faults

$(BIN)/python: | needs
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(SOURCES) | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check ".[plots,explore]"
	@touch $@

# The kernels are compiled while the dependencies are fetched.
$(VENV)/.wheel: $(SOURCES) | $(BIN)/python $(if $(shell command -v npm),page/node_modules/.installed)
	rm -rf build/wheel
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir build/wheel .
	@touch $@

$(VENV)/.dependencies: pyproject.toml | $(BIN)/python
	@mkdir -p build
	$(BIN)/python -c 'import tomllib; p = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
	  lists = p["dependencies"], *p["optional-dependencies"].values(); \
	  print(*(name for each in lists for name in each if not name.startswith("consilience")), sep="\n")' > build/requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -r build/requirements.txt
	@touch $@

$(VENV)/.tested: $(VENV)/.wheel $(VENV)/.dependencies
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall build/wheel/*.whl
	@touch $@ $(VENV)/.installed

needs:
	@test -n "$(PYTHON)" || { echo "consilience needs Python 3.11 or newer; install it, or name it: make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "consilience needs Python's venv module; on Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
	@$(PYTHON) -c 'import os, sysconfig as s; raise SystemExit(not os.path.exists(os.path.join(s.get_path("include"), "Python.h")))' || { echo "consilience needs Python's header files; on Debian and Ubuntu: apt install python3-dev" >&2; exit 1; }
	@test -n "$(CXX)" || { echo "consilience needs a C++17 compiler; on Debian and Ubuntu: apt install g++, on macOS: xcode-select --install" >&2; exit 1; }

clean:
	rm -rf $(VENV) build dist consilience-demo page/node_modules src/consilience/explorer/static
