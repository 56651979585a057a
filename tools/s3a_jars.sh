#!/bin/sh
# s3a_jars.sh FOLDER: Hadoop's client of S3 for the tests that run Spark on an object store, into FOLDER/share/s3a of the
# environment FOLDER. It is a download of 180 MB, and pip keeps it in its cache. Without it these tests are skipped, and say so.
set -u
folder=$1
jars="$folder/share/s3a"
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
trap 'exit 1' INT TERM HUP
if "$folder/bin/python" -m pip download --quiet --disable-pip-version-check --no-deps --require-hashes \
    --requirement "$(dirname "$0")/s3a_jars.txt" --dest "$room" >"$room/log" 2>&1 &&
    tar -xzf "$room"/sagemaker_pyspark-*.tar.gz -C "$room"; then
    mkdir -p "$jars"
    mv "$room"/sagemaker_pyspark-*/deps/jars/hadoop-aws-*.jar "$room"/sagemaker_pyspark-*/deps/jars/aws-java-sdk-bundle-*.jar "$jars" &&
        touch "$folder/.s3a" && exit 0
fi
cat "$room/log" >&2
echo "neardup: the tests of Spark on S3 are skipped, because pip could not get the jars that they need." >&2
