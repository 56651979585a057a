#!/bin/sh
# check_package.sh [PYTHON]: every way to install neardup ends in a working command. The source archive and the wheel are made,
# checked and installed into empty environments. The core is compiled four times, so this takes some minutes.
set -eu
cd "$(dirname "$0")/.."
python=${1:-python3}
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
trap 'exit 1' INT TERM HUP
if command -v ccache >/dev/null 2>&1; then
    export CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_DIR="$room/ccache" CCACHE_NOHASHDIR=1
fi

new() { # an empty environment
    "$python" -m venv "$room/$1"
}

works() { # NAME: the command of the environment reads, finds and writes, away from the source tree
    (
        cd "$room"
        "$1/bin/neardup" --version
        sample=$("$1/bin/python" -c "import neardup.sample as sample; print(sample.path())")
        "$1/bin/neardup" dedup "$sample" --out "$1.jsonl" --quiet
        [ -s "$1.jsonl" ]
        "$1/bin/python" -c "import neardup._core as core; print(core.best_cpu())"
    )
    echo "ok: $2"
}

new tools
"$room/tools/bin/python" -m pip install --quiet build twine auditwheel uv

"$room/tools/bin/python" -m build --quiet --outdir "$room/dist" .
"$room/tools/bin/python" -m twine check --strict "$room"/dist/*
"$room/tools/bin/python" -m auditwheel show "$room"/dist/*.whl
"$room/tools/bin/python" tools/package_contents.py "$room"/dist/*

new wheel
"$room/wheel/bin/python" -m pip install --quiet "$room"/dist/*.whl
"$room/wheel/bin/python" -m pip check
works wheel "the wheel, made from the source archive"

new all
"$room/all/bin/python" -m pip install --quiet '.[all]'
"$room/all/bin/python" -m pip check
works all "pip install '.[all]'"

new uv
"$room/tools/bin/uv" pip install --quiet --python "$room/uv/bin/python" "$room"/dist/*.tar.gz
works uv "uv pip install of the source archive"

new editable
"$room/editable/bin/python" -m pip install --quiet --editable .
works editable "pip install --editable ."
