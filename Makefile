# Everything here works on a fresh machine with Python 3.11 and make. `make demo` first.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/installed
export DAGSTER_HOME ?= $(CURDIR)/.dagster
READY := $(INSTALLED) $(DAGSTER_HOME)/dagster.yaml
export DEEPEVAL_TELEMETRY_OPT_OUT = 1
SUITE ?= docs_assistant

.PHONY: demo test slow test-all lint format typecheck check record ui bench clean

demo: $(READY)
	$(BIN)/eval-pipeline run docs_assistant
	@echo; echo "May the second prompt replace what is accepted? Exit code 1 means: block."
	$(BIN)/eval-pipeline gate issue_triage --candidate qwen-1.5b-v2 || [ $$? -eq 1 ]
	@echo; echo "May the support agent's prompt drop 'look it up before you answer'?"
	$(BIN)/eval-pipeline gate support_agent --candidate qwen-1.5b-warm-no-lookup || [ $$? -eq 1 ]

test: $(INSTALLED)
	$(BIN)/pytest -q -n 2

slow: $(INSTALLED)
	$(BIN)/pytest -q -n 2 --dist loadfile -m slow

test-all: $(INSTALLED)
	$(BIN)/pytest -q -n 2 --dist loadfile -m "slow or not slow"

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(INSTALLED)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

typecheck: $(INSTALLED)
	$(BIN)/mypy

check: $(READY)
	$(BIN)/dagster definitions validate -m eval_pipeline.definitions
	$(BIN)/eval-pipeline check

record: $(READY)
	$(BIN)/eval-pipeline run $(SUITE) --record-mode new_episodes $(if $(CANDIDATE),--candidate $(CANDIDATE))

ui: $(READY)
	$(BIN)/dagster dev -w workspace.yaml

bench: $(INSTALLED)
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) .dagster warehouse

$(INSTALLED): requirements-lock.txt pyproject.toml
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'Python 3.11 or newer is needed: make PYTHON=/path/to/python3.11')"
	@echo "installing into $(VENV); the first time this takes a few minutes"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements-lock.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

$(DAGSTER_HOME)/dagster.yaml:
	mkdir -p $(DAGSTER_HOME)
	printf 'telemetry: {enabled: false}\nnux: {enabled: false}\n' > $@
