#!/usr/bin/env bash
# Builds every CUDA case and the runner into one program: build.sh OUTPUT [JOBS]
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
output=$1 jobs=${2:-$(nproc)} objects=$(mktemp -d)
find "$here/cases" "$here/harness" -name '*.cu' ! -name 'questions.cu' | sort |
    xargs -P "$jobs" -I{} sh -c 'nvcc -O3 -std=c++17 -gencode=arch=compute_90,code=sm_90 -c "$1" -o "$2/$(basename "$1").o"' _ {} "$objects"
nvcc -gencode=arch=compute_90,code=sm_90 -o "$output" "$objects"/*.o -ldl
rm -r "$objects"
