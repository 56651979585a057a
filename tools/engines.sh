#!/bin/sh
# What the tests run for real beside Python: Java for Spark, Redis, a browser. Installed where that can be done without
# asking; elsewhere the tests that need one are skipped, and say so (with CI=true they fail).
missing=""
command -v java >/dev/null || missing="$missing openjdk-17-jre-headless"
command -v redis-server >/dev/null || missing="$missing redis-server"
command -v chromium >/dev/null || missing="$missing chromium"
[ -z "$missing" ] && exit 0
if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    export DEBIAN_FRONTEND=noninteractive
    # A server that the package starts by itself would be in the way of the tests' own.
    export RUNLEVEL=1
    if apt-get install -y -qq --no-install-recommends $missing >/dev/null 2>&1 ||
        { apt-get update -qq && apt-get install -y -qq --no-install-recommends $missing >/dev/null; }; then
        exit 0
    fi
fi
echo "neardup: the tests that need$missing are skipped. To run them, install those (Debian and Ubuntu: apt install$missing)." >&2
