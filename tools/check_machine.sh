#!/bin/sh
# check_machine.sh [PYTHON]: whether this machine can build neardup. One sentence for each thing that is missing, with what to
# install; the exit status is 1 when something is. CMakeLists.txt makes the same demands of the compiler.
python=${1:-python3}
failed=0

missing() {
    echo "neardup: $1" >&2
    failed=1
}

check_python() {
    if ! command -v "$python" >/dev/null 2>&1; then
        missing "no program '$python' was found. Install Python 3.11 or newer (Debian and Ubuntu: apt install python3 python3-venv python3-dev), or name one: make PYTHON=/path/to/python3."
        return
    fi
    version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)
    if [ -z "$version" ]; then
        missing "'$python' does not start. Install Python 3.11 or newer, or name one that works: make PYTHON=/path/to/python3."
        return
    fi
    if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
        missing "'$python' is Python $version, which is too old. Install Python 3.11 or newer and name it: make PYTHON=python3.11."
        return
    fi
    if ! "$python" -c 'import venv, ensurepip' 2>/dev/null; then
        missing "'$python' cannot make virtual environments. Install its venv module (Debian and Ubuntu: apt install python$version-venv)."
    fi
    if ! "$python" -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))'; then
        missing "the C headers of Python $version (Python.h) are missing. Install them (Debian and Ubuntu: apt install python$version-dev; Fedora: dnf install python3-devel)."
    fi
}

check_compiler() {
    compiler=${CXX:-}
    for name in c++ g++ clang++; do
        [ -z "$compiler" ] && command -v "$name" >/dev/null 2>&1 && compiler=$name
    done
    # CXX may hold a launcher or options beside the name, so it is split into words.
    set -- $compiler
    if [ $# = 0 ] || ! command -v "$1" >/dev/null 2>&1; then
        missing "no C++ compiler was found${1:+ (CXX is '$compiler')}. Install GCC 12 or newer (Debian and Ubuntu: apt install g++; Fedora: dnf install gcc-c++) or Clang 14 or newer, or name one: CXX=/path/to/g++ make."
        return
    fi
    answer=$(printf '%s\n' '#if defined(__clang__)' 'clang __clang_major__' '#else' 'gcc __GNUC__' '#endif' |
        "$@" -x c++ -E -P - 2>/dev/null | tr -d '\r' | tail -n 1)
    kind=${answer% *}
    major=${answer##* }
    if { [ "$kind" = gcc ] && [ "$major" -lt 12 ]; } || { [ "$kind" = clang ] && [ "$major" -lt 14 ]; }; then
        missing "'$compiler' is $kind $major, which is too old. Install GCC 12 or Clang 14 or newer and name it, for example: CXX=g++-12 make."
    elif ! printf '%s\n' '#include <bit>' '#include <concepts>' '#include <span>' '#include <vector>' 'int main() { return 0; }' |
        "$@" -std=c++20 -x c++ -fsyntax-only - 2>/dev/null; then
        missing "'$compiler' does not compile C++20 with its standard library. Install GCC 12 or newer with its library (Debian and Ubuntu: apt install g++), or name another compiler: CXX=/path/to/g++ make."
    fi
}

check_python
check_compiler
exit $failed
