# SPDX-FileCopyrightText: The GPU join for Apache Flink authors
# SPDX-License-Identifier: Apache-2.0
# Shared by the commands in bin/; sourced, never run. Sets ROOT and holds the set-up that each command needs.
# shellcheck shell=bash

ROOT=$(cd -P "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
readonly ROOT

# Class path that run_main uses instead of the module's.
RUN_CLASS_PATH=

fail() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 2
}

note() {
  printf '%s\n' "$*" >&2
}

# install_package PACKAGE: installs a Debian package where that is possible; says nothing where it is not.
install_package() {
  local package=$1
  if [[ $(id -u) == 0 ]] && command -v apt-get >/dev/null; then
    note "Installing $package ..."
    local -a install=(apt-get install -y -qq --no-install-recommends "$package")
    export DEBIAN_FRONTEND=noninteractive
    { "${install[@]}" || { apt-get update -qq && "${install[@]}"; }; } >/dev/null 2>&1 || true
    hash -r
  fi
}

# have_command COMMAND PACKAGE: whether the command is there, after installing its Debian package where that is possible.
have_command() {
  command -v "$1" >/dev/null || install_package "$2"
  command -v "$1" >/dev/null
}

# have_header HEADER PACKAGE: the same for a C header.
have_header() {
  [[ -f /usr/include/$1 ]] || install_package "$2"
  [[ -f /usr/include/$1 ]]
}

# Whether the native half of RDMA can be compiled here.
have_verbs_headers() {
  have_command gcc gcc && have_header infiniband/verbs.h libibverbs-dev && have_header rdma/rdma_cma.h librdmacm-dev
}

need_command() {
  have_command "$1" "$2" || fail "$1 is missing: install it with: apt-get install $2"
}

# Sets JAVA.
need_java() {
  if [[ -n ${JAVA_HOME:-} ]]; then
    JAVA=$JAVA_HOME/bin/java
    [[ -x $JAVA && -x ${JAVA}c ]] || fail "JAVA_HOME is no JDK: JAVA_HOME=$JAVA_HOME (set it to a JDK 17, or unset it)"
  else
    need_command javac openjdk-17-jdk-headless
    JAVA=$(command -v java)
  fi
  local version
  version=$("$JAVA" -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p')
  [[ -n $version ]] || fail "Java does not report its version: java=$JAVA (set JAVA_HOME to a JDK 17)"
  [[ $version -ge 17 ]] || fail "Java is older than 17: found=$version, java=$JAVA (set JAVA_HOME to a JDK 17)"
}

need_maven() {
  need_java
  need_command mvn maven
}

# JVM arguments that every process with Flink in it needs; they stand in pom.xml, once.
jvm_opens() {
  grep -o -- '--add-opens=[^ <]*' "$ROOT/pom.xml"
}

# A download that times out is tried again, too; of itself Maven does that for few failures.
readonly DOWNLOADS=(
  -Dmaven.wagon.http.retryHandler.count=5
  -Dmaven.wagon.http.retryHandler.nonRetryableClasses=java.net.UnknownHostException
  -Dmaven.wagon.http.serviceUnavailableRetryStrategy.class=standard
)

# Maven for a log or a terminal alike; Debian's writes a few colour codes whatever it is told.
maven() {
  mvn -B -Dstyle.color=never --no-transfer-progress "${DOWNLOADS[@]}" -f "$ROOT/pom.xml" "$@" 2>&1 | sed -u 's/\x1b\[[0-9;]*m//g'
}

# Where the sources of a module and of those it stands on lie.
sources_of() {
  printf '%s\n' "$ROOT/pom.xml" "$ROOT/$1/pom.xml"
  case $1 in
    deploy) ;;
    examples) printf '%s\n' "$ROOT"/{join-core,rdma-network,kernels,hybrid-cpu,flink-gpu-join,columnar-formats}/{pom.xml,src/main} "$ROOT/examples/src/main" ;;
    etl-demo) printf '%s\n' "$ROOT"/{join-core,rdma-network,kernels,hybrid-cpu,flink-gpu-join,columnar-formats,kafka-columns}/{pom.xml,src/main} "$ROOT/etl-demo/src/main" ;;
    flink-sql-gpu-join) printf '%s\n' "$ROOT"/{join-core,rdma-network,kernels,hybrid-cpu,flink-gpu-join,flink-sql-gpu-join}/{pom.xml,src/main} ;;
    flink-gpu-join) printf '%s\n' "$ROOT"/{join-core,rdma-network,kernels,hybrid-cpu,flink-gpu-join}/{pom.xml,src} ;;
    *) printf '%s\n' "$ROOT"/*/pom.xml "$ROOT"/*/src/main ;;
  esac
}

# is_up_to_date MODULE CLASSPATH_FILE: no source or pom is newer than the last build, and no jar has gone.
# Folders count too: a deleted file leaves its folder newer.
is_up_to_date() {
  local stamp=$ROOT/$1/target/built class_path_file=$2 jar
  local -a sources jars
  [[ -f $stamp && -f $class_path_file ]] || return 1
  mapfile -t sources < <(sources_of "$1")
  [[ -z $(find "${sources[@]}" -newer "$stamp" -print -quit) ]] || return 1
  [[ $class_path_file != *.jar ]] || return 0
  IFS=: read -ra jars <"$class_path_file"
  for jar in "${jars[@]}"; do
    [[ -e $jar ]] || return 1
  done
}

# lock_build --shared|--exclusive: holds the lock of this checkout's class files and jars, also in the JVM that this shell
# becomes. Running commands share it; a build takes it alone, so that it replaces no jar under a running command.
lock_build() {
  # A command that another one started runs under that one's lock.
  [[ -z ${GPU_JOIN_BUILD_LOCK:-} ]] || return 0
  if ! command -v flock >/dev/null; then
    [[ -n ${LOCK_IS_MISSING:-} ]] || note "flock is missing: do not build beside running commands, or apt-get install util-linux"
    LOCK_IS_MISSING=1
    return
  fi
  [[ -n ${LOCK_FD:-} ]] || exec {LOCK_FD}>"$ROOT/.build.lock"
  flock "$1" --timeout 1 "$LOCK_FD" && return
  note "Waiting for other commands of this checkout: lock=$ROOT/.build.lock, held by:$(lock_holders)"
  flock "$1" "$LOCK_FD"
}

# Prints the process number and command of each process that holds the build lock, one a line.
lock_holders() {
  local lock=$ROOT/.build.lock fd pid found=''
  for fd in /proc/[0-9]*/fd/*; do
    [[ $fd -ef $lock ]] || continue
    pid=${fd#/proc/} pid=${pid%%/*}
    [[ $pid != "$$" && $pid != "$BASHPID" ]] || continue
    grep -qs '^lock:.*FLOCK' "/proc/$pid/fdinfo/${fd##*/}" || continue
    found+=$'\n'"  pid=$pid, command=$(tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline" | cut -c 1-160)"
  done
  printf '%s' "${found:- unknown}"
}

unlock_build() {
  [[ -z ${LOCK_FD:-} ]] || flock --unlock "$LOCK_FD"
}

# build MODULE CLASSPATH_FILE: packages the module and those it stands on, unless nothing changed since. Another file that
# the build makes may stand for the class path: a jar.
build() {
  local module=$1 class_path_file=$2 started
  is_up_to_date "$module" "$class_path_file" && return
  need_maven
  lock_build --exclusive
  if is_up_to_date "$module" "$class_path_file"; then # another command has built it meanwhile
    unlock_build
    return
  fi
  note "Building $module (the first build also downloads its dependencies) ..."
  started=$(mktemp)
  maven -q package -DskipTests -Dspotless.check.skip -Dcyclonedx.skip -pl "$module" -am >&2 ||
    { rm -f "$started"; fail "the build failed: module=$module (see Maven's message above)"; }
  [[ -f $class_path_file ]] || fail "the build made no such file: expected=$class_path_file (run mvn clean, then this command again)"
  # The stamp carries the time at which the build began: an edit made meanwhile is built next time.
  mv "$started" "$ROOT/$module/target/built"
  unlock_build
}

# build_and_hold MODULE CLASSPATH_FILE: builds, and holds the shared lock from then on.
build_and_hold() {
  build "$@"
  lock_build --shared
  # A build may have begun in between and failed.
  build "$@"
  lock_build --shared
  export GPU_JOIN_BUILD_LOCK=held
}

# run_main MODULE MAIN_CLASS NAME ARGS...: becomes the JVM, so that signals reach it.
# GPU_JOIN_JVM_ARGS is put last and so overrides, for example GPU_JOIN_JVM_ARGS='-Xmx8g'.
run_main() {
  local module=$1 main_class=$2 name=$3
  shift 3
  need_java
  local target=$ROOT/$module/target
  build_and_hold "$module" "$target/classpath.txt"
  local -a opens extra
  mapfile -t opens < <(jvm_opens)
  read -ra extra <<<"${GPU_JOIN_JVM_ARGS:-}"
  exec "$JAVA" -Xmx2g -XX:+ExitOnOutOfMemoryError "${opens[@]}" \
    -Dlog4j2.configurationFile="$ROOT/deploy/conf/log4j2-client.properties" \
    -Dlog.file="$target/$name.log" ${extra[@]+"${extra[@]}"} \
    -cp "${RUN_CLASS_PATH:-$target/classes:$(<"$target/classpath.txt")}" "$main_class" "$@"
}

# run_tests MODULE MAIN_CLASS ARGS...: becomes the JVM with a main class of the module's tests.
run_tests() {
  local module=$1 main_class=$2
  shift 2
  need_java
  local target=$ROOT/$module/target
  build_and_hold "$module" "$target/test-classpath.txt"
  local -a opens extra
  mapfile -t opens < <(jvm_opens)
  read -ra extra <<<"${GPU_JOIN_JVM_ARGS:-}"
  exec "$JAVA" -Xmx2g -XX:+ExitOnOutOfMemoryError "${opens[@]}" ${extra[@]+"${extra[@]}"} \
    -cp "$target/test-classes:$target/classes:$(<"$target/test-classpath.txt")" "$main_class" "$@"
}
