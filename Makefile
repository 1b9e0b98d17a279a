# `make` lists what there is. Needs Python 3.11 to 3.13, Node 20.19 or newer, and make.

SHELL := /bin/bash -eu -o pipefail
BIN := .venv/bin
unexport PYTHONDONTWRITEBYTECODE # hundreds of processes import the package
STATIC := tfprof_nb/render/static

# What stands for what has been made. Stamps lie inside the thing, so that deleting it deletes them.
PACKAGES := .venv/.packages
EDITABLE := .venv/.editable
NODE := js/node_modules/.packages
SCRIPTS := $(STATIC)/trace.js

# Two at a time, the tests of a file in order and in one process: one TensorFlow and one Jupyter server each.
PYTEST := $(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder --durations=25

.PHONY: help env chromium build lint format vitest lint-vitest check test nightly fuzz captures demo notebooks docs site bench workflows wheel notes lock clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

env: $(EDITABLE) chromium ## create .venv from the lock, build the JavaScript, install the package into it

$(PACKAGES): requirements.lock
	@python=; for candidate in python3 python3.12 python3.13 python3.11; do \
	    if $$candidate -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null; \
	    then python=$$candidate; break; fi; done; \
	[ -n "$$python" ] || { echo "No Python 3.11, 3.12 or 3.13 found: install one of them." >&2; exit 1; }; \
	echo "== .venv: $$($$python --version), packages from requirements.lock (a few minutes the first time)"; \
	[ -x $(BIN)/python ] || $$python -m venv .venv
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --require-hashes -r requirements.lock
	@touch $@

$(EDITABLE): $(PACKAGES) pyproject.toml $(SCRIPTS)
	@echo "== tfprof_nb, editable"
	@HATCH_JUPYTER_BUILDER_SKIP_NPM=1 $(BIN)/python -m pip install -qq --disable-pip-version-check \
	    --no-deps --no-build-isolation --editable .
	@touch $@

$(NODE): js/package.json js/package-lock.json
	@command -v npm >/dev/null || { echo "npm is missing: install Node.js 20.19 or newer." >&2; exit 1; }
	@echo "== js: packages from package-lock.json"
	@cd js && npm ci --loglevel=error --no-progress >/dev/null
	@touch $@

build: $(SCRIPTS) ## build the JavaScript that the widgets load

$(SCRIPTS): $(NODE) $(shell find js/src -type f 2>/dev/null) js/build.mjs js/lab.config.cjs
	@echo "== js: build"
	@mkdir -p build
	@cd js && npm run --silent build >../build/js.log 2>&1 || { cat ../build/js.log >&2; exit 1; }
	@touch $@

chromium: # for the browser's tests
	@if [ -n "$${CHROMIUM:-}" ] || command -v chromium >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "== chromium, by apt-get"; \
	    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y chromium >/dev/null; \
	else echo "== chromium is missing: the browser's tests will be skipped. Install it, or set CHROMIUM to its path."; fi

lint: $(EDITABLE) ## ruff, codespell, mypy, import-linter, zizmor, biome, tsc
	@echo "== ruff"; $(BIN)/ruff check --quiet . && $(BIN)/ruff format --quiet --check .
	@echo "== codespell"; $(BIN)/codespell
	@echo "== zizmor"; $(BIN)/zizmor --quiet --offline --no-progress .github
	@echo "== mypy"; $(BIN)/mypy --no-error-summary --no-incremental
	@echo "== import-linter"; $(BIN)/lint-imports | grep -E 'KEPT|BROKEN|->|Contracts'
	@echo "== biome, tsc"; cd js && npm run --silent lint && npm run --silent check

format: $(EDITABLE) ## let ruff and biome rewrite what they can
	@$(BIN)/ruff check --quiet --fix . ; $(BIN)/ruff format --quiet . ; cd js && npx biome check --write .

vitest: $(NODE)
	@echo "== vitest"; cd js && npm run --silent test

lint-vitest: # lint and vitest, one beside the other
	@$(MAKE) --no-print-directory -j2 $(if $(filter output-sync,$(.FEATURES)),--output-sync=target) lint vitest

check: $(EDITABLE) lint-vitest ## lint, and all tests that need no TensorFlow, kernel or browser (3 minutes)
	@echo "== pytest --check"; $(PYTEST) --check

test: env lint-vitest ## what CI runs: lint, and all tests but the nightly ones; TensorFlow, JupyterLab, a browser (half an hour)
	@echo "== pytest"; $(PYTEST)

nightly: env lint-vitest ## all tests: also every program and notebook, other versions, soaks (hours)
	@echo "== pytest, all"; TFPROF_NB_PICTURES=1 $(PYTEST) -m ""
	@$(MAKE) --no-print-directory fuzz

fuzz: $(EDITABLE) ## open changed files for SECONDS (300): every input gives a right result or a TfprofError
	@$(BIN)/python tests/fuzz/run.py --seconds $(or $(SECONDS),300) --jobs $(or $(JOBS),2) --first $(or $(FIRST),0)

captures: $(EDITABLE) ## run the programs of tests/programs, or NAMES, and record the captures that tests read
	@$(BIN)/python tests/captures/record.py $(NAMES)

demo: $(EDITABLE) ## execute the quickstart, write build/demo/report.html, open the notebook in JupyterLab (not with HEADLESS=1)
	@$(BIN)/python notebooks/demo.py
	@if [ -z "$${HEADLESS:-}" ]; then echo "== demo: JupyterLab, until Ctrl-C"; \
	    TF_CPP_MIN_LOG_LEVEL=3 $(BIN)/jupyter lab --log-level=CRITICAL build/demo/00_quickstart.ipynb; fi

notebooks: $(EDITABLE) ## execute the tutorials and store their outputs
	@$(BIN)/python notebooks/execute.py

docs: env ## write docs/advice from the rules, and take the pictures of docs/images anew
	@$(BIN)/python docs/make_rules.py
	@$(BIN)/pytest tests/browser/pictures.py

site: $(EDITABLE) ## build/site/: the documentation as a site, from docs, notebooks and docstrings; a warning is an error
	@$(BIN)/python -m sphinx -q -W --keep-going -c docs . build/site

bench: $(EDITABLE) ## measure what is not measured yet, or PARTS; write docs/performance.md (an hour; minutes with QUICK=1)
	@$(BIN)/python -m benchmarks.performance $(PARTS) $(if $(QUICK),--quick)

workflows: $(EDITABLE) ## run what the workflows run, or NAMES="release test/lint" of them, each job in a clean clone
	@$(BIN)/python .ci/workflows.py $(NAMES)

wheel: $(EDITABLE) ## dist/: sdist and wheel, with the JavaScript in them
	@$(BIN)/python -m build --no-isolation --outdir dist

notes: # what a release tells: the part of the changelog that belongs to TAG, which must be the version's
	@[ "$(TAG)" = "v$$(sed -n 's/^__version__ = "\(.*\)"/\1/p' tfprof_nb/__init__.py)" ] || \
	    { echo "$(TAG) is not the tag of the version." >&2; exit 1; }
	@mkdir -p build
	@awk -v version="$(TAG:v%=%)" '/^## /{shown = index($$0, "[" version "]"); next} shown' CHANGELOG.md >build/notes.md
	@[ -s build/notes.md ] || { echo "CHANGELOG.md has nothing on $(TAG)." >&2; exit 1; }

lock: ## resolve the newest versions into requirements.lock, the lowest into tests/floors.txt
	@$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --group dev --generate-hashes \
	    --no-emit-index-url --no-annotate --custom-compile-command 'make lock' pyproject.toml -o requirements.lock
	@$(BIN)/uv pip compile --quiet --upgrade --resolution lowest-direct --only-binary :all: --python-version 3.11 \
	    --constraint tests/colab.txt --no-emit-index-url --no-annotate --custom-compile-command 'make lock' \
	    pyproject.toml -o tests/floors.txt

clean: ## remove what was built; .venv and js/node_modules stay
	@rm -rf build dist js/labextension $(STATIC) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
