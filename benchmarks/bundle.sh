#!/usr/bin/env bash
# SPDX-FileCopyrightText: The GPU join for Apache Flink authors
# SPDX-License-Identifier: Apache-2.0
# Packs a Java runtime, the class path of the benchmarks and the native ones into one archive, for a machine with a
# GPU that has no JDK and no network. Unpacked there, "bench gpu" is "bin/bench gpu".
#
#   bundle.sh [--with-ssb] [--with-sql] FILE.tar.xz CLASS_PATH NATIVE_PROGRAM JVM_OPENS...
#
# --with-ssb adds what "bench gpu --only ssb" needs: DuckDB and file formats.
# --with-sql adds what "bench records" needs: Flink SQL.
set -euo pipefail
with_ssb='' with_sql=''
while [[ $1 == --with-* ]]; do
  case $1 in
    --with-ssb) with_ssb=1 ;;
    --with-sql) with_sql=1 ;;
    *)
      echo "bundle.sh: unknown option: $1 (--with-ssb or --with-sql)" >&2
      exit 1
      ;;
  esac
  shift
done
file=$(readlink -f "$1") class_path=$2 native=$3
shift 3

# What no benchmark of the bundle loads: microbenchmarks, what draws charts.
# Flink tasks load classes of flink-shaded-zookeeper.
readonly NEVER='arrow|flatbuffers|protobuf|zstd-jni|jline|jackson-datatype|flink-csv|avro|icu4j|-tests\.jar|jmh|async-profiler|jopt|/zookeeper-|test-utils|xchart|batik|xmlgraphics|echarts|javassist|disni'
# What the broker of "bench kafka" adds.
readonly OF_KAFKA='kafka[-_][^/]*\.jar|scala-|argparse4j|caffeine|commons-(beanutils|codec|digester|validator)|hash4j|jackson-dataformat|jose4j|/yammer/|pcollections|re2j|/snakeyaml-[0-9]|junit|opentest4j|apiguardian'
# What "bench gpu --only ssb" alone loads; of RocksDB its classes, without the native library.
readonly FOR_SSB='duckdb|rocksdb|connector-files|/tpch|fastcsv|parquet|/guava/|hadoop|snappy|woodstox|stax2|commons-collections/'
SKIPPED="$NEVER|$OF_KAFKA"
[[ -n $with_ssb ]] || SKIPPED+="|$FOR_SSB"
[[ -n $with_sql ]] || SKIPPED+='|flink-table-planner|flink-cep'
[[ -n $with_ssb$with_sql ]] || SKIPPED+='|flink-table'
readonly SKIPPED
# java.desktop is for java.beans, which the logging library loads; java.compiler for Flink SQL.
readonly MODULES=java.base,java.desktop,java.instrument,java.logging,java.management,java.management.rmi,java.naming,java.rmi
readonly MORE_MODULES=java.compiler,java.security.jgss,java.security.sasl,java.sql,java.xml,jdk.management,jdk.net,jdk.unsupported,jdk.zipfs

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/lib"
unused=('**/lib'{awt,font,freetype,javajpeg,jawt,jsound,lcms,mlib,splash}'*') # what draws and sounds
jlink --add-modules "$MODULES,$MORE_MODULES" --strip-debug --no-header-files --no-man-pages --output "$work/jre" \
  --exclude-files "$(IFS=,; printf '%s' "${unused[*]/#/glob:}")"

# store FOLDER JAR: stored files are packed far tighter by xz than deflated ones. Zip knows no time before 1980.
store() {
  find "$1" -exec touch -d 2000-01-01 {} +
  jar -c -0 -M -f "$2" -C "$1" .
}

number=100
IFS=: read -ra entries <<<"$class_path"
for entry in "${entries[@]}"; do
  [[ $entry =~ $SKIPPED ]] && continue
  number=$((number + 1))
  unpacked=$work/unpacked
  mkdir "$unpacked"
  if [[ -d $entry ]]; then
    cp -r "$entry/." "$unpacked"
  else
    (cd "$unpacked" && jar -xf "$entry")
  fi
  # Flink has its RPC system in a jar within a jar.
  for nested in "$unpacked"/*.jar; do
    [[ -f $nested ]] || continue
    mkdir "$work/nested"
    (cd "$work/nested" && jar -xf "$nested")
    store "$work/nested" "$nested"
    rm -r "$work/nested"
  done
  # Native libraries of other platforms, and those that nothing here asks for: of JCuda only the driver is.
  find "$unpacked" -type f \( -name '*.dll' -o -name '*.dylib' -o -name '*.jnilib' -o -name '*.a' \
    -o -name '*.so*' ! -path '*x86_64*' ! -path '*amd64*' -o -iname '*nvptxcompiler*' -o -name 'libJCudaRuntime*' \
    -o -name 'libJNvrtc*' -o -name '*quiche*' -o -name '*.so_windows*' \) -delete
  store "$unpacked" "$work/lib/$number-$(basename "$entry" .jar).jar"
  rm -r "$unpacked"
done

cp "$native" "$work/gpu_bench"
cp "$(dirname "$native")/bulk_bench" "$work"
cat >"$work/bench" <<EOF
#!/bin/sh
here=\$(cd "\$(dirname "\$0")" && pwd)
exec "\$here/jre/bin/java" -Xms16g -Xmx16g -XX:+ExitOnOutOfMemoryError $* \\
  -Dgpujoin.native-bench="\$here/gpu_bench" \${GPU_JOIN_JVM_ARGS:-} \\
  -cp "\$here/lib/*" io.github.gpujoin.bench.Bench "\$@"
EOF
chmod +x "$work/bench"
tar -C "$work" -cf - bench gpu_bench bulk_bench jre lib | xz -9 -T0 >"$file"
du -h "$file"
