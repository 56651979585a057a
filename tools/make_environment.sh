#!/bin/sh
# make_environment.sh FOLDER PYTHON: a new virtual environment in FOLDER.
# make_environment.sh --check FOLDER ...: marks environments that cannot be used, so that make makes them again.
#
# An environment holds absolute paths, so it is of no use after the tree was moved or its Python removed. While pip works
# in it, a file .busy is there; one that is still there at the next start means that pip was interrupted.
set -u
here=$(pwd -P)

ours() {
    [ -e "$1/.made" ] || [ -e "$1/.tools" ] || [ -e "$1/.busy" ]
}

compiled() {
    echo "build/$(echo "$1" | tr / -)"
}

usable() {
    [ "$(cat "$1/.made" 2>/dev/null)" = "$here" ] && [ ! -e "$1/.busy" ] && "$1/bin/python" -c "" 2>/dev/null
}

if [ "${1:-}" = --check ]; then
    shift
    for folder; do
        if ours "$folder" && ! usable "$folder"; then
            # The compiled files name their sources by absolute paths, too.
            [ "$(cat "$folder/.made" 2>/dev/null)" = "$here" ] || rm -rf "$(compiled "$folder")"
            rm -f "$folder"/.[a-z]*
            touch "$folder/.busy"
        fi
    done
    exit 0
fi

folder=$1
python=$2
if [ -e "$folder" ] && ! ours "$folder"; then
    echo "neardup: $folder is there already and was not made by make. Remove it, or name another folder: make VENV=.venv-neardup." >&2
    exit 1
fi
sh tools/check_machine.sh "$python" || exit 1
[ "$("$folder/bin/python" -V 2>&1)" = "$("$python" -V 2>&1)" ] || rm -rf "$(compiled "$folder")"
rm -rf "$folder"
mkdir -p "$folder"
touch "$folder/.busy"
if ! "$python" -m venv "$folder"; then
    echo "neardup: '$python' could not make a virtual environment in $folder; the reason is above. On Debian and Ubuntu, apt install python3-venv." >&2
    exit 1
fi
sh tools/pip_install.sh "$folder" --upgrade pip || { touch "$folder/.busy" && exit 1; }
printf '%s\n' "$here" >"$folder/.made"
