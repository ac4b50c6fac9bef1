# Everything starts with `make setup`, which needs no root: all that is installed goes into .venv.
# Needed beforehand: python3 >= 3.11 with its venv module, g++, make, perl.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

PYTHON ?= python3
EXAMPLE ?= matmul
BOARD ?= de5net
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

PYTEST := $(BIN)/python -m pytest -q -n 2
# The tests start some hundred commands, and each worker imports all files of tests: without bytecode on the disk, which containers often turn off,
# each of them would parse the whole compiler again.
unexport PYTHONDONTWRITEBYTECODE
# Two groups of tests at a time, as tests/conftest.py makes them: each shares a simulator, and a simulation is one process on one core.
# Each of the two compiles in one file, as the other core is taken: a second one would read the same headers again.
SIMULATED := SLUICE_JOBS=1 $(PYTEST)
GROUPS := --dist loadgroup --no-loadscope-reorder

.PHONY: help setup demo test test-all check simulated browser bench peers boards icd cts docs lint clean

help:
	@echo 'make demo    compile and run examples/$(EXAMPLE) on the simulated board (EXAMPLE=name for another)'
	@echo 'make test    the tests, 35 to 60 minutes on the two threads of one core, and less on two cores; make check, make simulated: those without and with a simulator build, half of it each; make test-all: with the long ones'
	@echo 'make bench   every example at full size, and plain kernels of many kinds, against the bounds of their hardware'
	@echo 'make browser tests of report.html in a Chromium, which it unpacks into $(VENV)/chromium where the system has none (UPDATE=1: new screenshots)'
	@echo 'make peers   small kernels on an ECP5 beside the figures of another compiler (installs yosys and nextpnr)'
	@echo 'make boards  every whole system in simulation; block RAMs and DSP blocks that are mapped in every family; the clock with hardware counters (hours)'
	@echo 'make cts     the conformance tests of Khronos through that driver, of an outside checkout: docs/conformance.md'
	@echo 'make icd     the OpenCL driver, by which hosts in C, C++ or any other language find the boards: docs/hosts.md'
	@echo 'make docs    the documentation as a site, in out/site'
	@echo 'make lint    style and types; make setup: only install; make clean: remove what was built, keep .venv'

setup: $(STAMP)

# What has to be there before, each with the package that brings it.
define REQUIRE
missing=(); \
$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
    || missing+=("python3 3.11 or newer (found: $$($(PYTHON) --version 2>&1 || true)); another one: make PYTHON=/path/to/python3"); \
$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || missing+=("the venv module of $(PYTHON) (package python3-venv on Debian, python3 on Fedora, python on Arch)"); \
command -v g++ >/dev/null || missing+=("g++ (package g++ on Debian, gcc-c++ on Fedora, gcc on Arch)"); \
command -v perl >/dev/null || missing+=("perl (package perl on Debian, Fedora and Arch)"); \
[[ $$(uname) == Linux ]] || missing+=("Linux: on macOS and Windows the simulated board does not run; use a container (docs/ci/Containerfile)"); \
if (( $${#missing[@]} )); then \
    printf 'setup: missing: %s\n' "$${missing[@]}" >&2; exit 1; \
fi
endef

# pip's link to this folder comes behind all of the search path: there a folder sim/ beside a host program, even one without __init__.py, would hide ours.
define SOURCES
import os, sysconfig
with open(os.path.join(sysconfig.get_path("purelib"), "sluice-sources.pth"), "w") as file:
    print(os.getcwd(), file=file)
endef
export SOURCES

# Depends on the list of dependencies alone: the package itself is installed as a link to this folder.
$(STAMP): pyproject.toml
	@$(REQUIRE)
	@echo "setup: creating $(VENV)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo 'setup: installing dependencies into $(VENV) (under a minute, 500 MB)'
	@$(BIN)/python -m pip install --disable-pip-version-check --progress-bar off -e '.[test]' \
	    | sed -u -n 's/^Collecting /  /p; s/^Successfully installed.*/setup: done/p'
	@$(BIN)/python -c "$$SOURCES"
	@$(BIN)/python -m sim.testbench.libpython
	@touch $@

demo: setup
	@echo '--- examples/$(EXAMPLE)/kernel.cl becomes Verilog for board $(BOARD)'
	@$(BIN)/sluice compile examples/$(EXAMPLE)/kernel.cl --board $(BOARD) -o out/$(EXAMPLE)
	@echo; cat out/$(EXAMPLE)/report.txt; echo
	@echo '--- examples/$(EXAMPLE)/host.py runs it on the simulated board'
	@$(BIN)/sluice run examples/$(EXAMPLE)/host.py --board $(BOARD)
	@echo; echo 'Verilog: out/$(EXAMPLE)/rtl    report: out/$(EXAMPLE)/report.txt'
	@echo 'To look at in a browser: $(CURDIR)/out/$(EXAMPLE)/report.html'
	@echo; echo 'To try next:'
	@echo '  $(BIN)/sluice profile examples/$(EXAMPLE)/host.py --board $(BOARD) -o out/$(EXAMPLE)-profile    where every cycle went, as a page'
	@echo '  $(BIN)/sluice advise examples/$(EXAMPLE)/kernel.cl --host examples/$(EXAMPLE)/host.py --board $(BOARD)    what to change in the kernel'
	@echo '  $(BIN)/sluice init my_kernel    a project of your own'

# A worker gets tests that stand one behind the other, so that those of a file share their fixtures and plans; one that has no more takes half of the other's.
NEIGHBOURS := --dist worksteal

check: setup
	@$(PYTEST) $(NEIGHBOURS) -m 'not verilator and not long'

# Fetches a browser once, into .venv/chromium, where apt has one; elsewhere the tests of the page are skipped.
test: setup
	@$(BIN)/python -m tests.browser.install || echo 'test: no Chromium, so the tests of report.html are skipped'
	@$(MAKE) --no-print-directory check
	@$(MAKE) --no-print-directory simulated

# The half of `test` that builds simulators.
simulated: setup
	@$(SIMULATED) $(GROUPS) -m 'verilator and not long'

# The browser's tests are part of `check`, which leaves them out, and says so, where there is no Chromium.
browser: setup
	@$(BIN)/python -m tests.browser.install
	@$(if $(UPDATE),UPDATE_SCREENSHOTS=1) $(BIN)/python -m pytest -q -m browser tests/browser

# What tests/long.txt names as well: once before a release.
test-all: setup
	@$(PYTEST) $(NEIGHBOURS) -m 'not verilator'
	@$(SIMULATED) $(GROUPS) -m verilator

bench: setup
	@$(BIN)/python examples/bench.py --board $(BOARD)
	@$(BIN)/python -m tests.guides.table
	@$(BIN)/python -m tests.guides.memories
	@$(BIN)/python -m tests.guides.pairs
	@$(BIN)/python -m tests.benchmarks

# Synthesis, place and route: tools of 200 MB that nothing else needs. What was measured once is remembered in .sluice-cache/pnr.
$(VENV)/.peers: $(STAMP)
	@$(BIN)/python -m pip install --disable-pip-version-check -q -e '.[peers]'
	@touch $@

peers: $(VENV)/.peers
	@$(BIN)/python -m tests.peers

# What `make test` has samples of; of synthesis, tables.
boards: $(VENV)/.peers
	@SLUICE_JOBS=1 $(BIN)/python -m pytest -q tests/sim/soc tests/sim/synthesis tests/boards/test_inference.py
	@$(BIN)/python -m tests.boards.inference
	@$(BIN)/python -m tests.boards.clocks --systems
	@$(BIN)/python -m tests.peers.counters --strict

# Khronos' tests, of outside checkouts: docs/conformance.md.
cts: setup
	@$(BIN)/python -m tests.conformance $(CTS) $(if $(HEADERS),--headers $(HEADERS)) --spirv $(SPIRV) $(if $(ONLY),--only $(ONLY))

icd: setup
	@$(BIN)/sluice icd

docs: setup
	@$(BIN)/python -m tests.site.build out/site

lint: setup
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check -q .
	@$(BIN)/python -m mypy

clean:
	rm -rf out build .sluice-cache .pytest_cache .ruff_cache .mypy_cache .hypothesis *.egg-info
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +
