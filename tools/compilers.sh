#!/bin/sh
# compilers.sh [pytest arguments]: builds the core with every compiler of this machine, warnings as errors, and runs the kernels'
# tests with each; COMPILERS="g++-12 clang++-19" names some. The core of the environment stays as it is: each compiler has its
# own folder in build/compilers. With qemu-x86_64-static some tests run once more on an emulated processor without AVX.
set -eu
cd "$(dirname "$0")/.."
python=$(command -v "${PYTHON:-python3}")
python=$(cd "$(dirname "$python")" && pwd)/$(basename "$python")
place=$PWD/build/compilers
mkdir -p "$place"

if [ -z "${COMPILERS:-}" ]; then
    COMPILERS=
    for version in 12 13 14 15 16; do COMPILERS="$COMPILERS g++-$version"; done
    for version in 14 15 16 17 18 19 20 21 22; do COMPILERS="$COMPILERS clang++-$version"; done
    # PyPI's ziglang holds a recent Clang with its own C++ library.
    if "$python" -c "import ziglang" 2>/dev/null; then
        printf '#!/bin/sh\nexec "%s" -m ziglang c++ "$@"\n' "$python" >"$place/zig-c++"
        chmod +x "$place/zig-c++"
        COMPILERS="$COMPILERS $place/zig-c++"
    fi
fi

# Without -S the hook of an editable install would bring in the environment's own core.
packages=$("$python" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')
run_tests() {
    folder=$1
    shift
    PYTHONPATH="$folder/package:$packages" "$@" -S -c "import neardup._core as c; assert c.__file__.startswith('$folder'), c.__file__; print('level', c.best_cpu().name)"
    PYTHONPATH="$folder/package:$packages" "$@" -S -m pytest -q -p no:cacheprovider --hypothesis-profile=sanitize -m "not slow and not process" $tests
}

tests=$*
failed= passed= last=
for compiler in $COMPILERS; do
    command -v "$compiler" >/dev/null || continue
    folder=$place/$(basename "$compiler")
    echo "== $("$compiler" --version | head -n 1)"
    rm -rf "$folder/package" && mkdir -p "$folder/package"
    if cmake -S . -B "$folder/build" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" -DNEARDUP_STRICT=ON \
        -DPython_EXECUTABLE="$python" -DCMAKE_CXX_COMPILER_LAUNCHER="$(command -v ccache || true)" >/dev/null &&
        cmake --build "$folder/build" --target _core >"$folder/build.log" &&
        cp -r src/neardup "$folder/package/" && rm -f "$folder"/package/neardup/_core*.so &&
        cp "$folder"/build/_core*.so "$folder/package/neardup/" &&
        { [ "$(uname -m)" != x86_64 ] || "$python" tools/baseline.py "$folder/build"; } && run_tests "$folder" "$python"; then
        passed="$passed $(basename "$compiler")" last=$folder
    else
        [ ! -e "$folder/build.log" ] || grep -E "error:|FAILED" "$folder/build.log" | head -n 20 || true
        failed="$failed $(basename "$compiler")"
    fi
done
if [ -n "$last" ] && [ "$(uname -m)" = x86_64 ] && command -v qemu-x86_64-static >/dev/null; then
    echo "== a processor without AVX (Nehalem), with the core in $(basename "$last")"
    tests="tests/fingerprints tests/compare" # emulated, all of them would take hours
    export OPENBLAS_CORETYPE=NEHALEM # numpy's OpenBLAS may read the real processor's name
    run_tests "$last" qemu-x86_64-static -cpu Nehalem "$(readlink -f "$python")" || failed="$failed no-AVX"
fi
echo "passed:${passed:- none}; failed:${failed:- none}"
[ -z "$failed" ] && [ -n "$passed" ]
