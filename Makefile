# Two commands do all the set-up on a fresh machine with Python 3.11, a C compiler and make:
#   make demo    quantize the example network, compile it, build it, run its test vectors
#   make test    pass the tests
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
JOBS ?= 2
# Tests run in parallel; a numpy that starts threads of its own only slows them down.
export OPENBLAS_NUM_THREADS := 1
export OMP_NUM_THREADS := 1
# Tests start hundreds of processes: each would compile the whole package again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-all lint fuzz docs site clean

$(VENV)/.base: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

$(VENV)/.test: $(VENV)/.base
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[all,test,train]"
	touch $@

demo: $(VENV)/.base
	$(BIN)/lamina demo

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/mypy

test: lint
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m "not slow"

# Everything, the minutes-long runs on real models included.
test-all: $(VENV)/.test
	$(BIN)/python -m pytest -n $(JOBS)

# Every reader on files guided by coverage (atheris, where it installs), then 500 damaged copies of real models through the
# command line: an error with an id or a correct compile, each time; prints the share of each id.
FUZZ_RUNS ?= 5000
fuzz: $(VENV)/.test
	-$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[fuzz]"
	$(BIN)/python -m tests.fuzz --runs $(FUZZ_RUNS)
	$(BIN)/python -m tests.e2e.fuzz_models --count 500 --seed 1
	$(BIN)/python -m tests.e2e.fuzz_models --format tflite --count 500 --seed 1

# Rewrites the pages of docs/ that are generated from the code.
docs: $(VENV)/.base
	$(BIN)/python -m codegen.report.pages
	$(BIN)/python -m codegen.verbs.generated_page
	$(BIN)/python -m tests.support.node_page
	$(BIN)/python -m tests.support.chip_page

# The documentation as a site, in build/site.
site: $(VENV)/.test
	$(BIN)/python -m mkdocs build --strict

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
