#!/bin/sh
# pip_install.sh FOLDER ARGUMENT ...: pip install into the environment FOLDER, each package built by itself, as pip does for any user.
# After a failure it says in a sentence what to do when the network was the reason.
set -u
folder=$1
shift
touch "$folder/.busy"
log=$folder/.pip.log
status=0
"$folder/bin/python" -m pip install --quiet --disable-pip-version-check "$@" >"$log" 2>&1 || status=$?
cat "$log" >&2
# With 1 pip gives up by itself and leaves the environment as it was; with others it was stopped.
[ $status -gt 1 ] || rm -f "$folder/.busy"
[ $status = 0 ] && rm -f "$log" && exit 0
if grep -qE 'after connection broken by|NewConnectionError|NameResolutionError|ConnectTimeout|ReadTimeout|ProxyError|SSLError|ConnectionError|CERTIFICATE_VERIFY_FAILED' "$log"; then
    echo "neardup: pip could not reach its package index, so the machine seems to have no network (or a proxy or certificate is not set). Connect it, or point pip at an index that it can reach (PIP_INDEX_URL, HTTPS_PROXY, PIP_CERT), and run make again." >&2
elif grep -q 'No space left on device' "$log"; then
    echo "neardup: the disk is full; the environment for all tests needs about 3 GB. Make room and run make again." >&2
else
    echo "neardup: pip could not install everything; the reason is above. Run make again when it is gone." >&2
fi
exit 1
