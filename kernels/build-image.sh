#!/usr/bin/env bash
# Compiles the engine's kernels into one image for the jar, if nvcc is there.
#
#   build-image.sh CACHE_DIR OUT_FILE
#
# Images are kept in CACHE_DIR under the hash of what they are made of.
set -euo pipefail
cache=$1 out=$2
source_dir=$(cd "$(dirname "$0")/src/main/cuda/engine" && pwd)

nvcc=${NVCC:-$(command -v nvcc || true)}
if [[ -z $nvcc && -x /usr/local/cuda/bin/nvcc ]]; then
  nvcc=/usr/local/cuda/bin/nvcc
fi
if [[ -z $nvcc ]]; then
  echo "kernels: no nvcc found, so this jar is CPU-only"
  rm -f "$out"
  exit 0
fi

# Machine code for data centre GPUs of three generations, as far as this nvcc knows them, and PTX
# that the driver compiles for any other from the first of them on.
known=$("$nvcc" --list-gpu-code)
flags=(-std=c++17 -O3 -fatbin -gencode arch=compute_80,code=compute_80)
for arch in 80 90 100; do
  if grep -qx "sm_$arch" <<<"$known"; then
    flags+=(-gencode "arch=compute_$arch,code=sm_$arch")
  fi
done

hash=$({ "$nvcc" --version; echo "${flags[@]}"; cat "$source_dir"/*; } | sha256sum | cut -c1-32)
image=$cache/engine-$hash.fatbin
if [[ ! -f $image ]]; then
  mkdir -p "$cache"
  "$nvcc" "${flags[@]}" --threads 0 "$source_dir/engine.cu" -o "$image.part"
  mv "$image.part" "$image"
fi
mkdir -p "$(dirname "$out")"
cmp -s "$image" "$out" || cp "$image" "$out"
