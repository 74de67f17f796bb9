#!/usr/bin/env bash
# Packs a Java runtime, the class path of the benchmarks and the native ones into one archive, for a machine with a
# GPU that has no JDK and no network. Unpacked there, "bench gpu" is "bin/bench gpu".
#
#   bundle.sh FILE.tar.xz CLASS_PATH NATIVE_PROGRAM JVM_OPENS...
set -euo pipefail
file=$(readlink -f "$1") class_path=$2 native=$3
shift 3

# What "bench gpu" never loads: peers, SQL, other state backends, microbenchmarks.
readonly SKIPPED='duckdb|rocksdb|table-planner|table-runtime|icu4j|-tests\.jar|jmh|async-profiler|jopt|zookeeper|/tpch|fastcsv|test-utils|xchart|batik|xmlgraphics|echarts|parquet|avro'
# java.desktop is for java.beans, which the logging library asks for.
readonly MODULES=java.base,java.desktop,java.instrument,java.logging,java.management,java.management.rmi,java.naming,java.rmi
readonly MORE_MODULES=java.security.jgss,java.security.sasl,java.sql,java.xml,jdk.management,jdk.net,jdk.unsupported,jdk.zipfs

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/lib"
jlink --add-modules "$MODULES,$MORE_MODULES" --strip-debug --no-header-files --no-man-pages --output "$work/jre"

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
  # Native libraries of other platforms, and the PTX compiler of JCuda, which nothing here asks for.
  find "$unpacked" \( -name '*.dll' -o -name '*.dylib' -o -name '*.jnilib' -o -name '*aarch*.so*' -o -name '*arm*.so*' \
    -o -name '*ppc64*.so*' -o -name '*s390*.so*' -o -name '*riscv*.so*' -o -name '*loongarch*.so*' -o -name '*-musl*' \
    -o -iname '*nvptxcompiler*' \) -delete
  # Zip knows no time before 1980; stored files are packed far tighter by xz than deflated ones.
  find "$unpacked" -exec touch -d 2000-01-01 {} +
  jar -c -0 -M -f "$work/lib/$number-$(basename "$entry" .jar).jar" -C "$unpacked" .
  rm -r "$unpacked"
done

cp "$native" "$work/gpu_bench"
cat >"$work/bench" <<EOF
#!/bin/sh
here=\$(cd "\$(dirname "\$0")" && pwd)
exec "\$here/jre/bin/java" -Xmx16g -XX:+ExitOnOutOfMemoryError $* \\
  -Dgpujoin.native-bench="\$here/gpu_bench" \${GPU_JOIN_JVM_ARGS:-} \\
  -cp "\$here/lib/*" io.github.gpujoin.benchmarks.Bench "\$@"
EOF
chmod +x "$work/bench"
tar -C "$work" -cf - bench gpu_bench jre lib | xz -6 -T0 >"$file"
du -h "$file"
