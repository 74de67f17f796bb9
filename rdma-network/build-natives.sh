#!/usr/bin/env bash
# SPDX-FileCopyrightText: The GPU join for Apache Flink authors
# SPDX-License-Identifier: Apache-2.0
# Compiles the native half of DiSNI for the jar, with its checksum, if a compiler and the headers are there.
#
#   build-natives.sh JAVA_HOME CACHE_DIR OUT_DIR
#
# CACHE_DIR stores libraries under a hash of sources, compiler and flags.
set -euo pipefail
java_home=$1 cache=$2 out=$3
source_dir=$(cd "$(dirname "$0")/src/main/native" && pwd)

cc=${CC:-gcc}
flags=(-std=gnu11 -O2 -fPIC -fvisibility=hidden -fstack-protector-strong -D_GNU_SOURCE -D_FORTIFY_SOURCE=2
  -Wall -Wextra -Werror -I"$java_home/include" -I"$java_home/include/linux")
link=(-shared -Wl,-z,defs -Wl,-z,noexecstack -Wl,-z,relro -Wl,-z,now -Wl,-soname,libdisni.so)
libraries=(-libverbs -lrdmacm)

missing() {
  echo "rdma-network: $1, so this jar has no RDMA (Debian: apt-get install gcc libibverbs-dev librdmacm-dev)"
  rm -f "$out"/libdisni.so*
  exit 0
}
[[ $(uname -sm) == "Linux x86_64" ]] || missing "natives are built on Linux x86_64 only"
command -v "$cc" >/dev/null || missing "no C compiler found"
[[ -f $java_home/include/jni.h ]] || missing "this JDK has no jni.h ($java_home)"
for header in infiniband/verbs.h rdma/rdma_cma.h; do
  echo "#include <$header>" | "$cc" -E -x c - >/dev/null 2>&1 || missing "no $header found"
done

hash=$({ "$cc" --version; echo "${flags[@]}" "${link[@]}"; cat "$source_dir"/*; } | sha256sum | cut -c1-32)
library=$cache/libdisni-$hash.so
if [[ ! -f $library ]]; then
  mkdir -p "$cache"
  "$cc" "${flags[@]}" "${link[@]}" "$source_dir"/*.c "${libraries[@]}" -o "$library.part"
  mv "$library.part" "$library"
fi
mkdir -p "$out"
cmp -s "$library" "$out/libdisni.so" || cp "$library" "$out/libdisni.so"
sha256sum <"$library" | cut -d' ' -f1 >"$out/libdisni.so.sha256"
