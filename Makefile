# Thin on purpose: what is done lives in tools/setup.sh and in the `anatomy` command.
#   make lab LAB_ARGS=--no-browser      options for JupyterLab
#   make test TEST_ARGS='-k softmax'    options for pytest
SHELL := /bin/bash
BIN := .venv/bin
export PATH := $(CURDIR)/$(BIN):$(PATH)

.DEFAULT_GOAL := help
.PHONY: help lab test test-latest build grade site bench lint clean setup setup-grade setup-test

help:            ## show this list
	@grep -E '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## */  make \1	/' | expand -t 16

lab: setup       ## open JupyterLab where you left off (LAB_ARGS='--no-browser --port=9999', LAB_ARGS=--instructor)
	@$(BIN)/anatomy lab $(LAB_ARGS)

# Three at a time on two cores: tests of browsers, kernels and services wait a good part of their time.
# Python keeps what it compiled, whatever the environment says: hundreds of processes import this package.
test: setup-test ## run the tests (TEST_ARGS='-k softmax', TEST_ARGS=--everything)
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n 3 --dist loadgroup $(TEST_ARGS)

test-latest: setup-test ## the newest releases instead of the pins: what breaks? (TEST_ARGS='tests/checking')
	$(BIN)/python tools/canary.py $(TEST_ARGS)

build: setup     ## make the student and the solved edition from source/ (ARGS=…)
	$(BIN)/anatomy build $(ARGS)

grade: setup-grade ## grade submitted/, or a made-up class if it is empty (ARGS=…)
	@ls -d submitted/*/ >/dev/null 2>&1 || $(BIN)/anatomy sample-class --students 8 --seed 1
	$(BIN)/anatomy grade $(ARGS)

site: setup      ## make the website, build/site/index.html (ARGS='--repository OWNER/REPO')
	@$(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint requirements-test.txt myst-nb sphinx-book-theme
	$(BIN)/python -m anatomy.authoring.site $(ARGS)

bench: setup     ## run the benchmarks under bench/
	@for bench in $(wildcard bench/*.py); do echo "== $$bench"; $(BIN)/python $$bench || exit 1; done

lint: setup-test ## ruff, mypy and the notebooks' own linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check anatomy tests tools
	$(BIN)/mypy
	$(BIN)/anatomy lint

clean:           ## remove caches and built packages; leaves .venv and everybody's work
	rm -rf build dist *.egg-info .pytest_cache .ruff_cache .mypy_cache
	find . -path ./.venv -prune -o -name __pycache__ -type d -print0 | xargs -0 rm -rf

setup:           ## install the pinned packages into .venv, and open nothing
	@bash tools/setup.sh

setup-grade:
	@bash tools/setup.sh grade

setup-test:
	@bash tools/setup.sh test
