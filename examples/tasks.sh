#!/bin/sh
# tasks.sh INPUTS FINDINGS KEPT TASKS [OPTIONS OF FILTER]: a scan as separate processes, as a scheduler would start them. A task
# that fails is started once more: it continues, or does nothing if it was done.
set -eu
inputs=$1 findings=$2 kept=$3 tasks=$4
shift 4
run=${RUN:-$(mktemp -d)} # a folder that all tasks can reach

# all COMMAND ...: every task of a stage, two at a time.
all() {
    seq 0 $((tasks - 1)) | xargs -P 2 -I TASK sh -c '"$@" --quiet 2>/dev/null || "$@" --quiet' sh neardup stage "$@" --task TASK
}

all fingerprint "$inputs" --run "$run" --tasks "$tasks"
all exact "$run"
all shuffle "$run"
all verify "$run"
neardup stage cluster "$run" --out "$findings"
all filter "$findings" --out "$kept" --tasks "$tasks" "$@"
rm -rf "$run"
