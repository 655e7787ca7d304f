# Works with GNU make 3.81 (macOS) and 4.x. `make` alone lists the targets.
SHELL := /bin/sh
.DEFAULT_GOAL := help
# Stamps and lanes have an order; `make -j` must not change it.
.NOTPARALLEL:

SEEDS ?= 2000
CASES ?= 1000000
LANE ?= tmux or browser or (lab and not stage)
WORKERS ?= auto
# Real CLIs wait more than they compute: one more than there are cores.
STAGES ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)

BIN := .venv/bin
PYTEST := $(BIN)/python -m pytest
UNIT := not (tmux or browser or lab or soak)
# Two environments in one folder: the demo does not wait for the developers' tools.
RUNTIME := .venv/.runtime-stamp
DEV := .venv/.dev-stamp
RECIPE := pyproject.toml constraints.txt scripts/provision scripts/provision.py

# The machine's locale may be C; agent screens are not ASCII.
ifeq ($(shell uname -s),Darwin)
export LC_ALL := en_US.UTF-8
else
export LC_ALL := C.UTF-8
endif
export PYTHONUTF8 := 1
# Where the lanes write what was skipped, for the last lines of `make test`.
export KOBOSHI_LANE_REPORT := $(CURDIR)/.provision/lanes.txt

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-7s %s\n", $$1, $$2}' Makefile

.PHONY: demo
demo: $(RUNTIME) ## one bad night in at most 90 seconds, in a real tmux
	@scripts/provision tmux
	@$(BIN)/koboshi demo

.PHONY: test
test: $(DEV) ## everything CI runs: check, simulation, lanes, real CLIs
	@rm -f "$(KOBOSHI_LANE_REPORT)"
	@scripts/provision tmux git node chromium clis
	@$(MAKE) --no-print-directory static unit sim lanes stages
	@echo
	@cat "$(KOBOSHI_LANE_REPORT)"
	@echo "make test: passed"

.PHONY: check
check: static unit ## the fast half: format, lint, types, unit tests

.PHONY: static
static: $(DEV) ## format check, lint, types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

.PHONY: unit
unit: $(DEV) ## unit tests, on all cores
	$(PYTEST) -q -n $(WORKERS) -m "$(UNIT)"

.PHONY: lab
lab: $(DEV) ## what brings the agent CLIs, and then `make stages`
	@scripts/provision tmux git node clis
	@$(MAKE) --no-print-directory stages

.PHONY: stages
stages: $(DEV) ## real agent CLIs before a scripted model: minutes
	$(PYTEST) -q -n $(STAGES) --dist worksteal -m stage

.PHONY: lanes
lanes: $(DEV) ## tests with real tmux, Chromium, agent CLIs; LANE=lab for one lane
	$(PYTEST) -m "($(LANE)) and not soak"

.PHONY: sim
sim: $(RUNTIME) ## simulated nights, and voyages of plans; SEEDS=100000 for more, SEED=123 or VOYAGE=123 replays one
ifdef SEED
	$(BIN)/python -m koboshi.testing.simulate --seed $(SEED)
else ifdef VOYAGE
	$(BIN)/python -m koboshi.testing.simulate --voyage $(VOYAGE)
else
	$(BIN)/python -m koboshi.testing.simulate --seeds $(SEEDS)
endif

.PHONY: fuzz
fuzz: $(DEV) ## hostile screens, payloads and commands, a million of each; CASES=20000 for fewer
	$(BIN)/python -m tests.fuzz --cases $(CASES)
	$(BIN)/python -m tests.policy.fuzz --count $(CASES)

.PHONY: bench
bench: $(DEV) ## measure; prints a table, writes JSON
	$(BIN)/python -m bench

.PHONY: soak
soak: $(DEV) ## the full size of what `make test` samples; takes long
	@$(MAKE) --no-print-directory sim SEEDS=100000
	@# 5: no soak test collected
	$(PYTEST) -m soak --timeout=7200 || [ $$? -eq 5 ]

.PHONY: fmt
fmt: $(DEV) ## format, and fix what the linter can fix
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

.PHONY: docs
docs: $(DEV) ## write the pages that come from code: rules, command line, status table
	$(BIN)/python scripts/gen_docs.py

.PHONY: pins
pins: ## renew constraints.txt
	@scripts/provision pins

.PHONY: clean
clean: ## remove the environment and caches of this checkout
	rm -rf .venv .provision .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist

$(RUNTIME): $(RECIPE)
	@scripts/provision runtime
	@touch $@

# The developers' environment contains the other one.
$(DEV): $(RECIPE)
	@scripts/provision dev
	@touch $@ $(RUNTIME)
