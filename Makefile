# Everything a person or CI does here, each one command. Needs Python 3.11+ and make; the rest is installed into the checkout.
PYTHON ?= python3
DEMO := .venv
TEST := .venv-test
PIP_INSTALL := install --quiet --disable-pip-version-check --no-input -c constraints.txt
# Setuptools warns of packages that stay where they are edited, as this one is to.
HUSHED := PYTHONWARNINGS=ignore
# The pip that a new environment brings may be years old, and takes half as long again.
PIP_NEW := install --quiet --disable-pip-version-check --no-input --upgrade pip
# pip compiles on one core alone. Some packages bring files for other Pythons, which do not compile and are never used.
COMPILE := -m compileall -q -q -j 0
CONFIG := examples/citebot.toml
SOAK ?= 5
# What is drawn at random is drawn a quarter as often as when a test is run by hand: the long runs draw more.
QUICK ?= 0.25
EXAMPLES ?= fresh
# Tests of whole processes and killed ones wait for half of their time, so two cores carry four workers.
WORKERS ?= 4
SOAK_WORKERS ?= 3
CODE := bots ragcore connectors prompts tests benchmarks

define QUESTIONS
How many unused leave days can I carry over, and until when?
What should I do when the VPN shows ERR_CONN_104?
中国大陆销售的主机保修期是多久？
endef
export QUESTIONS

.PHONY: help demo test lint types soak bench docs clean

help:
	@echo "make demo    install, index examples/, and chat about it in the terminal"
	@echo "make test    build a test environment and run the tests"
	@echo "make lint    check format and style        make types   check types"
	@echo "make soak    the long runs: the same tests with larger counts (SOAK=$(SOAK))"
	@echo "make bench   every measurement of benchmarks/README.md"
	@echo "make docs    rewrite the generated pages"
	@echo "make clean   remove the environments and the example's index"

demo:
	@echo "Citebot demo: three steps, the first of them once."
	@$(MAKE) --silent --no-print-directory $(DEMO)/.ready
	@echo "2/3  Reading examples/documents (only what changed since the last time) ..."
	@$(DEMO)/bin/citebot --config $(CONFIG) sync
	@if [ -t 0 ]; then \
	  echo "3/3  Opening the chat. Ask something, or /help."; \
	  $(DEMO)/bin/citebot --config $(CONFIG) chat; \
	else \
	  echo "3/3  Asking three questions (there is no terminal to chat in)."; \
	  printf '%s\n' "$$QUESTIONS" | $(DEMO)/bin/citebot --config $(CONFIG) chat; \
	fi

$(DEMO)/.ready: pyproject.toml constraints.txt
	@echo "1/3  Installing into $(DEMO) (about a minute, 650 MB, once) ..."
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed, this is " + sys.version.split()[0] + ": make demo PYTHON=python3.12")'
	@$(PYTHON) -m venv $(DEMO)
	@$(DEMO)/bin/python -m pip $(PIP_NEW) || true
	@$(HUSHED) $(DEMO)/bin/python -m pip $(PIP_INSTALL) --no-compile -e .
	@$(DEMO)/bin/python $(COMPILE) $(DEMO)/lib || true
	@touch $@

$(TEST)/.ready: pyproject.toml constraints.txt
	@echo "Installing the test environment into $(TEST) ..."
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed, this is " + sys.version.split()[0] + ": make test PYTHON=python3.12")'
	@$(PYTHON) -m venv $(TEST)
	@$(TEST)/bin/python -m pip $(PIP_NEW) || true
	@$(HUSHED) $(TEST)/bin/python -m pip $(PIP_INSTALL) --no-compile -e '.[test]'
	@$(TEST)/bin/python $(COMPILE) $(TEST)/lib || true
	@touch $@

# The tests start some two hundred processes: each would compile the code anew where nobody keeps what is compiled, and
# each worker would rewrite all that the tests assert.
test: $(TEST)/.ready
	@$(TEST)/bin/python $(COMPILE) bots ragcore connectors prompts
	@$(TEST)/bin/python -m tests.rewritten
	PYTHONDONTWRITEBYTECODE= SOAK_FACTOR=$(QUICK) $(TEST)/bin/pytest -n $(WORKERS) --dist worksteal -m "not soak"

lint: $(TEST)/.ready
	$(TEST)/bin/ruff format --check $(CODE)
	$(TEST)/bin/ruff check $(CODE)

types: $(TEST)/.ready
	$(TEST)/bin/mypy

# With EXAMPLES=fresh each run is a different one: that is how trouble is looked for. .ci/run keeps them fixed.
# What only they need is installed first; offline its tests are skipped with that reason.
soak: $(TEST)/.ready
	@$(HUSHED) $(TEST)/bin/python -m pip $(PIP_INSTALL) -e '.[test,soak]' || echo "Going on without what only the long runs read with."
	SOAK_FACTOR=$(SOAK) EXAMPLES=$(EXAMPLES) $(TEST)/bin/pytest -n $(SOAK_WORKERS) --dist worksteal --timeout 1200

bench: $(TEST)/.ready
	@$(HUSHED) $(TEST)/bin/python -m pip $(PIP_INSTALL) -e '.[bench]'
	$(TEST)/bin/python -m benchmarks

docs: $(TEST)/.ready
	$(TEST)/bin/python -m bots.settings docs/settings.md
	$(TEST)/bin/python -m connectors docs/sources.md
	$(TEST)/bin/python examples/answer_all.py
	$(TEST)/bin/python examples/picture.py

clean:
	rm -rf $(DEMO) $(TEST) examples/.citebot
