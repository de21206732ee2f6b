# Everything starts from a fresh clone: the first command makes .venv and installs what requirements.txt pins.

VENV := .venv
PYTHON := $(VENV)/bin/python
# One thread and a fixed hash seed: the same numbers on every machine, and no fight over the cores.
export OMP_NUM_THREADS := 1
export PYTHONHASHSEED := 0

.PHONY: demo test lab release wheel bench

demo: $(VENV)/ready  ## grade the class in examples/ and show the scores
	$(PYTHON) -m course demo

test: $(VENV)/ready  ## everything that must hold
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(PYTHON) -m pytest --nbval --nbval-sanitize-with tests/nbval.cfg source
	$(PYTHON) -m pytest

lab: $(VENV)/ready  ## open the students' notebooks in JupyterLab
	$(VENV)/bin/jupyter lab --notebook-dir=release

release: $(VENV)/ready  ## write release/ from source/
	$(PYTHON) -m course release

# What an earlier build left in build/ would go into the wheel. The setuptools that torch brings along makes it.
wheel: $(VENV)/ready  ## write dist/attention_seminar-*.whl, which students install
	rm -rf build dist
	$(PYTHON) -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist .
	rm -rf build

bench: $(VENV)/ready  ## measure grading against stock nbgrader, into benchmarks/RESULTS.md
	$(PYTHON) -m benchmarks

$(VENV)/ready: requirements.txt constraints.txt pyproject.toml
	python3 -m venv $(VENV)
	$(PYTHON) -m pip install --quiet -r requirements.txt
	touch $@

