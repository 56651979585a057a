#!/bin/sh
# arm64.sh [pytest arguments]: compiles the core for arm64 and runs the kernels' tests, golden fingerprints among them, under
# qemu's emulator. It needs Debian's packages g++-aarch64-linux-gnu and qemu-user-static, and apt and pip to fetch an arm64
# Python and its wheels into build/arm64; nothing is installed on this machine, and no root is needed.
set -eu
cd "$(dirname "$0")/.."
python=$(command -v "${PYTHON:-python3}")
python=$(cd "$(dirname "$python")" && pwd)/$(basename "$python")
place=$PWD/build/arm64
root=$place/root wheels=$place/wheels

for program in aarch64-linux-gnu-g++ qemu-aarch64-static apt-get dpkg-deb cmake; do
    command -v "$program" >/dev/null || {
        echo "neardup: no program '$program' was found. Install it (Debian and Ubuntu: apt install g++-aarch64-linux-gnu qemu-user-static cmake)." >&2
        exit 1
    }
done

# Debian's Python for arm64 and the libraries it depends on, from an apt with lists of its own.
if [ ! -e "$place/.root" ]; then
    rm -rf "$root" "$place/apt"
    mkdir -p "$root" "$place/apt/lists/partial" "$place/apt/cache/archives/partial"
    fetch() {
        apt-get -qq -o Dir::State="$place/apt" -o Dir::State::lists="$place/apt/lists" -o Dir::State::status=/dev/null \
            -o Dir::Cache="$place/apt/cache" -o APT::Architecture=arm64 -o APT::Architectures=arm64 \
            -o APT::Sandbox::User="$(id -un)" -o Debug::NoLocking=1 "$@"
    }
    fetch update
    fetch --yes --no-install-recommends --download-only install python3-minimal libpython3-stdlib libpython3-dev libstdc++6
    for package in "$place"/apt/cache/archives/*.deb; do dpkg-deb -x "$package" "$root"; done
    rm -r "$place/apt"
    touch "$place/.root"
fi
binary=$(readlink -f "$root/usr/bin/python3")
case $binary in "$root"/*) ;; *) binary=$root/usr/bin/$(basename "$binary") ;; esac
version=$(basename "$binary") && version=${version#python}

if [ ! -e "$place/.wheels" ]; then
    "$python" -m pip install --quiet --disable-pip-version-check --upgrade --target "$wheels" --only-binary=:all: \
        --python-version "$version" --implementation cp --platform manylinux_2_28_aarch64 --platform manylinux_2_17_aarch64 \
        --platform manylinux2014_aarch64 nanobind numpy click rich pytest hypothesis xxhash pyarrow rapidfuzz stopwordsiso \
        PyStemmer msgspec
    touch "$place/.wheels"
fi

# One program that CMake and this script call as if it were an ordinary Python.
cat >"$place/python" <<EOF
#!/bin/sh
export PYTHONPATH="$wheels:\${NEARDUP_PATH:-}" PYTHONDONTWRITEBYTECODE=1
exec qemu-aarch64-static -L "$root" "$binary" "\$@"
EOF
chmod +x "$place/python"

cmake -S . -B "$place/build" -G Ninja -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
    -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++ -DNEARDUP_STRICT=ON -DPython_EXECUTABLE="$place/python" \
    -DPython_INCLUDE_DIR="$root/usr/include/python$version" -DCMAKE_CXX_FLAGS="-isystem $root/usr/include" \
    -DCMAKE_CXX_COMPILER_LAUNCHER="$(command -v ccache || true)" >/dev/null
cmake --build "$place/build" --target _core

# A copy of the package, so that the core of this machine stays where it is.
rm -rf "$place/package" && mkdir "$place/package"
cp -r src/neardup "$place/package/neardup"
rm -f "$place"/package/neardup/_core*.so
cp "$place"/build/_core*.so "$place/package/neardup/"
export NEARDUP_PATH="$place/package"
"$place/python" -c "import platform, neardup._core as c; print('running on', platform.machine(), 'at level', c.best_cpu().name)"
exec "$place/python" -m pytest -q -p no:cacheprovider --hypothesis-profile=sanitize -m "not slow and not process" "$@"
