# Everyday commands. `make demo` and `make test` work on a fresh machine with Python 3.11+, a C++ compiler and make.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
SOURCES := $(wildcard core/*) CMakeLists.txt pyproject.toml
TOOLS := "scikit-build-core>=0.10" "nanobind>=2.4" cmake ninja

.PHONY: demo build test quick lint format bench sanitize clean

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.tools: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet $(TOOLS)
	touch $@

# Editable and incremental: only the core is ever rebuilt.
$(VENV)/.installed: $(SOURCES) | $(VENV)/.tools
	$(BIN)/python -m pip install --quiet --no-build-isolation -Cbuild-dir=build/$(notdir $(VENV)) \
	    -Ccmake.define.NEARDUP_STRICT=ON --editable .
	touch $@

$(VENV)/.test: $(VENV)/.installed pyproject.toml
	$(BIN)/python -m pip install --quiet --no-build-isolation -Cbuild-dir=build/$(notdir $(VENV)) \
	    -Ccmake.define.NEARDUP_STRICT=ON --editable '.[test]'
	touch $@

build: $(VENV)/.installed

test: $(VENV)/.test
	$(BIN)/python -m pytest

quick: $(VENV)/.test
	$(BIN)/python -m pytest -m "not slow"
