# `make` lists what can be made: the lines that end in "## ...".
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

PORT ?= 8501
ADDRESS ?= localhost
TESTS ?= tests
PROFILE ?= $(or $(ATLAS_PROFILE),open)
OWN ?= $(ATLAS_OWN_MODELS)
VENV := .venv
PYTHON := $(VENV)/bin/python
INSTALL := $(PYTHON) -m pip install --quiet --disable-pip-version-check
# The first Python that is new enough; PYTHON_BASE=/path/to/python chooses another.
PYTHON_BASE ?= $(firstword $(foreach name,python3 python3.13 python3.12 python3.11 python,$(shell \
	$(name) -c 'import sys; sys.version_info >= (3, 11) and print("$(name)")' 2>/dev/null)))

.PHONY: help run run-hf dev test audit test-cluster check format lint types screenshots tour benchmarks train clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

run: $(VENV)/app.stamp ## install what is missing and open the app (PORT=8501; ADDRESS=0.0.0.0 lets others in; PROFILE=classroom)
	ATLAS_PROFILE=$(PROFILE) $(PYTHON) -m streamlit run app/server.py --server.port $(PORT) --server.address $(ADDRESS)

run-hf: $(VENV)/hf.stamp ## the same with models of others, on a list (OWN=models.toml; docs/own-models.md)
	ATLAS_OWN_MODELS=$(OWN) ATLAS_PROFILE=$(PROFILE) $(PYTHON) -m streamlit run app/server.py --server.port $(PORT) --server.address $(ADDRESS)

dev: $(VENV)/app.stamp ## the app for those who change it: reloads on save, shows tracebacks
	$(PYTHON) -m streamlit run app/main.py --server.port $(PORT) --server.address $(ADDRESS) \
		--server.fileWatcherType auto --client.showErrorDetails full --client.toolbarMode developer

test: $(VENV)/dev.stamp ## all tests, those in a real Chromium too (TESTS=tests/browser for some)
	@$(PYTHON) -m tests.browser.chromium --install
	$(PYTHON) -m pytest -n 2 --ignore=tests/cluster $(TESTS)

audit: ## ask the PyPI advisory database about every pinned package (needs the internet)
	@$(PYTHON_BASE) -m venv $(VENV)/audit
	@$(VENV)/audit/bin/pip install --quiet --disable-pip-version-check pip-audit==2.10.1
	$(VENV)/audit/bin/pip-audit --disable-pip --require-hashes -r requirements.lock -r requirements-torch.lock

test-cluster: $(VENV)/dev.stamp ## two processes behind the nginx of deploy/, really run (needs nginx, and says how to get it)
	@$(PYTHON) -m tests.cluster.cluster
	@$(PYTHON) -m tests.browser.chromium --install
	$(PYTHON) -m pytest tests/cluster

check: format lint types test ## everything that must hold: format, lint, types, import rules, tests

format: $(VENV)/dev.stamp
	$(PYTHON) -m ruff format --check .

lint: $(VENV)/dev.stamp
	$(PYTHON) -m ruff check .

types: $(VENV)/dev.stamp
	$(PYTHON) -m mypy

screenshots: $(VENV)/dev.stamp ## every page x two widths x light and dark x English and Chinese, into screenshots/
	@$(PYTHON) -m tests.browser.chromium --install
	$(PYTHON) -m tests.browser.screenshots

tour: $(VENV)/dev.stamp ## the moving picture of the README, taken from the running app, into docs/images/
	@$(PYTHON) -m tests.browser.chromium --install
	$(PYTHON) -m tests.browser.tour

benchmarks: $(VENV)/bench.stamp ## the figures of speed, each beside its rival (quality: python -m benchmarks.quality --help)
	@$(PYTHON) -m tests.browser.chromium --install
	$(PYTHON) -m benchmarks

train: $(VENV)/train.stamp ## how to train a model
	@$(PYTHON) -m model.training --help
	@printf '\nThe command that trained each shipped model stands on its card:\n'
	@grep -H '^command' assets/checkpoints/*/card.toml

clean: ## remove what the targets made, but for .venv and trained models
	rm -rf screenshots .pytest_cache .mypy_cache .ruff_cache .hypothesis test-results
	find . -name __pycache__ -type d -not -path './$(VENV)/*' -prune -exec rm -rf {} +

$(VENV)/bin/python:
	@test -n "$(PYTHON_BASE)" || { echo "Python 3.11 or newer is needed; name one with make PYTHON_BASE=/path/to/python" >&2; exit 1; }
	@$(PYTHON_BASE) -m venv $(VENV) || { rm -rf $(VENV); echo "$(PYTHON_BASE) cannot make a virtual environment;" \
		"install its venv package (Debian and Ubuntu: apt-get install python3-venv) and run make again" >&2; exit 1; }

# One requirements file each, and each includes the one before: every installation sees the same pin of torch.
requirements := requirements.txt constraints.txt
$(VENV)/app.stamp: $(requirements)
$(VENV)/train.stamp: requirements-train.txt $(requirements)
$(VENV)/hf.stamp: requirements-hf.txt $(requirements)
$(VENV)/dev.stamp: requirements-dev.txt requirements-train.txt requirements-align.txt requirements-hf.txt $(requirements)
$(VENV)/bench.stamp: requirements-bench.txt requirements-dev.txt requirements-train.txt requirements-align.txt requirements-hf.txt $(requirements)
$(VENV)/%.stamp: | $(VENV)/bin/python
	@echo "Installing $< into $(VENV) (the first time takes some minutes) ..."
	@$(INSTALL) -r $<
	@touch $@
