#!/bin/sh
# clean_room.sh: the two commands of the README as a stranger runs them: what is committed, without git, in a folder with a
# space and a letter outside ASCII, with an empty home and pip cache, no labelled corpora beside it, and of the environment only
# PATH and what leads pip to its index. Ends with `make clean`, which must leave what was there at first.
# CACHES=FOLDER keeps what pip downloads and, if ccache is installed, what is compiled, for the rest of a CI run. The folder must be
# empty, so that nothing from before can hide what a stranger lacks.
set -eu
cd "$(dirname "$0")/.."

# `make test` runs these here: each part of the package once, in about a minute.
SELECTED="tests/test_public_api.py tests/test_layers.py tests/test_dedup.py tests/test_sample.py tests/setup
    tests/features/test_hash.py tests/fingerprints/test_golden.py tests/readers/test_formats.py tests/index/local/test_tables.py
    tests/cli/test_cli.py"

room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
trap 'exit 1' INT TERM HUP
tree="$room/clean róom/neardup"
mkdir -p "$tree" "$room/home" "$room/tmp"
git archive HEAD | tar -x -C "$tree"
(cd "$tree" && find . | sort) >"$room/before"

# Places that only this machine has (find-links, extra indexes of its user) are left out: they could hide what strangers lack.
set -- PATH="$PATH" HOME="$room/home" TMPDIR="$room/tmp"
for name in index_url cert client_cert proxy trusted_host; do
    variable=PIP_$(echo "$name" | tr a-z A-Z)
    eval "value=\${$variable-}"
    [ -n "$value" ] || value=$(python3 -m pip config get "global.$(echo "$name" | tr _ -)" 2>/dev/null || true)
    [ -z "$value" ] || set -- "$@" "$variable=$value"
done
for variable in PIP_DEFAULT_TIMEOUT SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE \
    http_proxy https_proxy all_proxy no_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY; do
    eval "value=\${$variable-}"
    [ -z "$value" ] || set -- "$@" "$variable=$value"
done

if [ -n "${CACHES:-}" ]; then
    [ -d "$CACHES" ] && [ -z "$(ls -A "$CACHES")" ] || { echo "neardup: CACHES is '$CACHES', which is not an empty folder" >&2 && exit 1; }
    set -- "$@" PIP_CACHE_DIR="$CACHES/pip"
    ! command -v ccache >/dev/null ||
        set -- "$@" CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_DIR="$CACHES/ccache" CCACHE_BASEDIR="$tree" CCACHE_NOHASHDIR=1
fi

step() {
    echo "clean room, $(($(date +%s) - started)) s: $1"
}

started=$(date +%s)
cd "$tree"
step "make demo"
env -i "$@" make demo >"$room/demo.log" 2>&1 || { cat "$room/demo.log" && exit 1; }
tail -n 1 "$room/demo.log"

step "make demo once more, without a network"
env -i "$@" PIP_INDEX_URL=http://127.0.0.1:9/ make demo >"$room/demo.log" 2>&1 || { cat "$room/demo.log" && exit 1; }

step "make test, of which the quick tests of each part"
env -i "$@" PYTEST_ADDOPTS="-q -m 'not slow' $(echo $SELECTED)" make test

step "the command, away from the tree"
cd "$room/home"
env -i "$@" "$tree/.venv/bin/python" -c "import neardup, neardup._core; print('neardup', neardup.__version__, 'imported')"
sample=$(env -i "$@" "$tree/.venv/bin/python" -c "import neardup.sample as sample; print(sample.path())")
env -i "$@" "$tree/.venv/bin/neardup" dedup "$sample" --out kept.jsonl --quiet
[ -s kept.jsonl ]

step "make clean"
cd "$tree"
env -i "$@" make clean >/dev/null
find . | sort | diff "$room/before" - || { echo "neardup: make clean leaves another tree than there was at first" >&2 && exit 1; }
step "done"
