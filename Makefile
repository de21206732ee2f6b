# Everything starts from a fresh clone: the first command makes .venv and installs what requirements.txt pins.

VENV := .venv
PYTHON := $(VENV)/bin/python
# Two workers suit two cores. `make test WORKERS=8` uses more.
WORKERS := 2
# Ends all processes of the tests with them, and prints a line for each part.
PYTEST := $(PYTHON) -m tests.support.run -q -n $(WORKERS) --dist loadgroup --parts
NBVAL := --nbval --nbval-sanitize-with $(CURDIR)/tests/nbval.cfg
# One thread and a fixed hash seed: the same numbers on every machine, and no fight over the cores.
export OMP_NUM_THREADS := 1
export PYTHONHASHSEED := 0

.PHONY: demo lint test notebooks kernels claims proofs coverage readme lab author book release wheel bench bench-serve

demo: $(VENV)/ready  ## grade the class in examples/ and show the scores
	$(PYTHON) -m examples.make_demo

lint: $(VENV)/ready-dev  ## style, types, import directions, spelling, the phrases of docs/style.md, files that git does not know
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports
	$(VENV)/bin/codespell
	$(PYTHON) -m tests.support.english
	@unknown=$$(git ls-files --others --exclude-standard); test -z "$$unknown" \
		|| { echo "git does not know these files: add, ignore or remove them"; echo "$$unknown"; exit 1; }

test: $(VENV)/ready-dev  ## all notebooks, and all that a user meets once: five minutes on two idle cores
	$(PYTEST) -m "not slow" $(NBVAL) source tests $(TEST)

proofs: $(VENV)/ready-dev  ## everything that must hold; goes on where it was stopped
	$(PYTEST) --go-on $(NBVAL) source tests $(PROOFS)

notebooks: $(VENV)/ready-dev  ## the instructors' notebooks, executed and compared with their stored outputs
	$(PYTEST) $(NBVAL) source tests/source

kernels: $(VENV)/ready-dev  ## the instructors' notebooks once more, as on a processor for which torch has no fast kernels
	ATEN_CPU_CAPABILITY=default $(PYTEST) $(NBVAL) $(or $(NOTEBOOKS),source)

claims: $(VENV)/ready-dev  ## measure what notebooks say of trained results, with other kernels and seeds
	$(PYTHON) -m tests.support.claims source/*/*.ipynb

coverage: $(VENV)/ready-dev  ## how much of the engine and the kernel package their own tests run; fails below a floor
	$(VENV)/bin/coverage erase
	$(VENV)/bin/coverage run -m pytest -q -n $(WORKERS) --dist loadgroup tests/engine tests/grader_kernel
	$(VENV)/bin/coverage combine --quiet
	$(VENV)/bin/coverage report

readme: $(VENV)/ready-dev  ## write the tables and the numbers on pages; name evidence that is older than what it shows
	$(PYTHON) -m tests.support.readme
	$(PYTHON) -m tests.support.models
	$(PYTHON) -m tests.support.evidence

lab: $(VENV)/ready  ## open the students' notebooks in JupyterLab as students get it
	JUPYTER_CONFIG_PATH=$(CURDIR)/deploy/student $(VENV)/bin/jupyter lab --notebook-dir=release \
		--LabApp.default_url=/lab/tree/start.ipynb

author: $(VENV)/ready  ## open the instructors' notebooks in JupyterLab, with nbgrader's Create Assignment
	$(VENV)/bin/jupyter lab --LabApp.default_url=/lab/tree/source

book: $(VENV)/ready-book  ## write the course as a static book into book/_build/html
	$(PYTHON) -m book

release: $(VENV)/ready  ## write release/ from source/
	$(VENV)/bin/grader release

# Files of an earlier build in build/ would go into a wheel. The setuptools that torch brings along makes them.
wheel: $(VENV)/ready  ## write wheels of the course, which students install with its kernel package, and of the grader
	rm -rf build packages/*/build dist
	$(PYTHON) -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist . ./packages/grader-kernel ./packages/grader
	rm -rf build packages/*/build

bench: $(VENV)/ready-dev  ## measure grading against stock nbgrader, into benchmarks/RESULTS.md
	$(PYTHON) -m benchmarks

bench-serve: $(VENV)/ready-dev  ## measure `grader serve` under load and under kills, into benchmarks/RESULTS.md
	$(PYTHON) -m benchmarks --only serve

# pip compiles all packages on one core, for half a minute. A sandbox cannot write, so what student code may import is
# compiled here, on all cores (files for a later Python fail), and anything else when it is first used.
$(VENV)/ready: requirements.txt constraints.txt pyproject.toml $(wildcard packages/*/pyproject.toml)
	python3 -m venv $(VENV)
	$(PYTHON) -m pip install --quiet --no-compile -r requirements.txt
	cd $(VENV)/lib/python*/site-packages && ../../../bin/python -m compileall -qq -j 0 torch numpy matplotlib || true
	touch $@

$(VENV)/ready-book: requirements-book.txt constraints.txt $(VENV)/ready
	$(PYTHON) -m pip install --quiet -r requirements-book.txt
	touch $@

$(VENV)/ready-dev: requirements-dev.txt $(VENV)/ready-book
	$(PYTHON) -m pip install --quiet -r requirements-dev.txt
	touch $@
