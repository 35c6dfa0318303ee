# Everything runs in .venv, made on first use from a Python that .ci/find-python chooses (or PYTHON=...).

VENV := .venv
BIN := $(VENV)/bin
ARCH ?= eyeriss_like
WORKLOAD ?= resnet50/conv2_x_3x3
JOBS ?= 2
QUICK ?=
# scripts, and not what they share; energy_interpolation.py needs CACTI and writes its own file
STUDIES := experiments/measured.py experiments/searchers.py experiments/transfer.py experiments/optimality.py experiments/time_to_quality.py experiments/default_answers.py experiments/ordinary_machines.py experiments/fused.py experiments/plans.py
EXPERIMENTS := $(filter-out %/common.py %/networks.py %/searches.py %/energy_interpolation.py %/cacti_grid.py %/cacti_macros.py $(STUDIES),$(wildcard experiments/*.py))

export PYTHON

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help run test test-deep mutants experiments studies notebooks docs schemas rewrites lint types floors check format clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1	\2/p' Makefile | expand -t 20

run: $(VENV)/.run ## set up and map one layer (ARCH=..., WORKLOAD=...)
	$(BIN)/ruby-map $(ARCH) $(WORKLOAD)

test: $(VENV)/.dev ## set up and run the tests on JOBS=2 processes
	$(BIN)/pytest -q -n $(JOBS) --dist worksteal

test-deep: $(VENV)/.dev ## the laws with many more examples, and the tests marked deep
	RUBY_DEEP=1 $(BIN)/pytest -q -n $(JOBS) --dist worksteal

mutants: $(VENV)/.dev ## faults put into the proof one at a time: does a test notice each? Half an hour
	$(BIN)/python tests/mutants.py

experiments: $(VENV)/.run ## every experiment, into experiments/results/ (QUICK=--quick: small, into quick/ there)
	@for script in $(EXPERIMENTS); do echo "== $$script"; $(BIN)/python $$script $(QUICK) || exit 1; done

studies: $(VENV)/.run ## proofs against random search, time to quality, the default: CPU-hours, go on where killed
	@for script in $(STUDIES); do echo "== $$script"; $(BIN)/python $$script $(QUICK) || exit 1; done

notebooks: $(VENV)/.dev ## run the notebooks in experiments/ and store their outputs
	$(BIN)/python .ci/run-notebooks experiments/*.ipynb

docs: $(VENV)/.docs ## the documentation site, into site/index.html
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

rewrites: $(VENV)/.dev ## generate and prove the substitutions of ruby-rewrite: five minutes
	$(BIN)/python .ci/rewrites.py

schemas: $(VENV)/.run ## record the JSON schemas in docs/schemas/
	$(BIN)/python .ci/schemas.py

lint: $(VENV)/.dev ## ruff: faults and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev ## mypy, strict, over the four parts
	$(BIN)/mypy

floors: $(VENV)/.dev ## a slice of the tests with the lowest versions that pyproject.toml allows
	.ci/floors $(BIN)

check: lint types test floors ## all that has to pass before a commit

format: $(VENV)/.dev ## let ruff put the format right
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean: ## remove .venv, caches and build outputs
	rm -rf $(VENV) .venv-floors build dist site *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@python=$$(.ci/find-python) && echo "Setting up $(VENV) with $$python" && "$$python" -m venv --clear $(VENV)

$(VENV)/.run: pyproject.toml mapper/bounds/kernels/_machine.c | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/.docs: pyproject.toml mapper/bounds/kernels/_machine.c | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	@touch $(VENV)/.run $@

$(VENV)/.dev: pyproject.toml mapper/bounds/kernels/_machine.c | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $(VENV)/.run $@
