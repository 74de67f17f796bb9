#!/usr/bin/env bash
# SPDX-FileCopyrightText: The GPU join for Apache Flink authors
# SPDX-License-Identifier: Apache-2.0
# Compiles kernels into an image for the jar.
#
#   build-image.sh CACHE_DIR SOURCE OUT_FILE
#
# SOURCE is relative to src/main/cuda.
# Without nvcc it warns and writes no image; the Maven profile gpu then fails the build.
# NVCC names the compiler; by default it is searched on the PATH and in /usr/local/cuda.
# CACHE_DIR stores images under a hash of sources, compiler and flags.
set -euo pipefail
cache=$1 source=$2 out=$3
source_dir=$(cd "$(dirname "$0")/src/main/cuda" && pwd)

missing() {
  rm -f "$out"
  echo "[WARNING] kernels: $1. This jar contains no CUDA kernels, so joins run on the CPU."
  echo "[WARNING] Install the CUDA toolkit, or set NVCC to its nvcc; -Pgpu turns this warning into an error."
  exit 0
}

nvcc=${NVCC:-$(command -v nvcc || true)}
if [[ -z $nvcc && -x /usr/local/cuda/bin/nvcc ]]; then
  nvcc=/usr/local/cuda/bin/nvcc
fi
[[ -n $nvcc ]] || missing "nvcc not found"
command -v "$nvcc" >/dev/null || missing "nvcc not found: NVCC=$nvcc"

# Machine code for data centre GPUs of three generations, as far as this nvcc knows them, and PTX
# that the driver compiles for any other from the first of them on.
known=$("$nvcc" --list-gpu-code)
flags=(-std=c++17 -O3 -fatbin -gencode arch=compute_80,code=compute_80)
for arch in 80 90 100; do
  if grep -qx "sm_$arch" <<<"$known"; then
    flags+=(-gencode "arch=compute_$arch,code=sm_$arch")
  fi
done

hash=$({ "$nvcc" --version; echo "${flags[@]}"; cat "$source_dir"/*/*; } | sha256sum | cut -c1-32)
image=$cache/$(basename "$source" .cu)-$hash.fatbin
if [[ ! -f $image ]]; then
  mkdir -p "$cache"
  "$nvcc" "${flags[@]}" --threads 0 "$source_dir/$source" -o "$image.part"
  mv "$image.part" "$image"
fi
mkdir -p "$(dirname "$out")"
cmp -s "$image" "$out" || cp "$image" "$out"
