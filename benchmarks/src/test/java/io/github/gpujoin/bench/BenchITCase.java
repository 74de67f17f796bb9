// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.flink.api.options.AppendOnlyRocksDb;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

@ExtendWith(RegionLeakExtension.class)
class BenchITCase {

    private static final Pattern RESULT =
            Pattern.compile("RESULT ([a-z0-9-]+) tuples_per_second=([0-9]+) checksum=([0-9]+)");

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int bench(String... args) {
        CommandLine line = Bench.commandLine();
        line.setOut(new PrintWriter(out));
        line.setErr(new PrintWriter(err));
        return line.execute(args);
    }

    @Test
    void shouldJoinWithEveryContenderAndAgree(@TempDir Path dir) throws Exception {
        Path json = dir.resolve("result.json");
        int exit =
                bench(
                        "join",
                        "--build-rows=20000",
                        "--probe-rows=100000",
                        "--rounds=1",
                        "--json=" + json);
        assertThat(exit).as(err.toString()).isZero();
        List<String[]> results =
                out.toString()
                        .lines()
                        .map(RESULT::matcher)
                        .filter(Matcher::matches)
                        .map(line -> new String[] {line.group(1), line.group(2), line.group(3)})
                        .toList();
        assertThat(results)
                .extracting(result -> result[0])
                .containsExactly(
                        "ours-engine",
                        "ours-flink-columnar",
                        "ours-flink-pojo",
                        "ours-flink-changing",
                        "ours-flink-versioned",
                        "ours-flink-regular",
                        "ours-sql-streaming",
                        "flink-keyed-datastream",
                        "flink-broadcast-state",
                        "flink-sql-lookup",
                        "flink-sql-temporal",
                        "flink-sql-streaming",
                        "flink-sql-batch",
                        "duckdb");
        assertThat(results).extracting(result -> result[2]).containsOnly(results.get(0)[2]);
        assertThat(results).allMatch(result -> Long.parseLong(result[1]) > 0);
        JsonNode document = new ObjectMapper().readTree(json.toFile());
        assertThat(document.at("/command").asText())
                .startsWith("bin/bench join --build-rows=20000");
        assertThat(document.at("/contenders")).hasSize(14);
    }

    @Test
    void shouldJoinWithEachNumberOfKeyGroups() {
        int exit =
                bench(
                        "join",
                        "--only=ours-flink-partitioned,ours-flink-partitioned-pojo",
                        "--key-groups=128,4096",
                        "--build-rows=20000",
                        "--probe-rows=100000",
                        "--rounds=1");
        assertThat(exit).as(err.toString()).isZero();
        assertThat(out.toString().lines().map(RESULT::matcher).filter(Matcher::matches))
                .extracting(line -> line.group(1))
                .containsExactly(
                        "ours-flink-partitioned-128",
                        "ours-flink-partitioned-4096",
                        "ours-flink-partitioned-pojo-128",
                        "ours-flink-partitioned-pojo-4096");
    }

    @Test
    void shouldJoinBoundedInputsAsTheirPeers() {
        int exit = bench("bulk", "--build-rows=20000", "--probe-rows=100000", "--rounds=1");
        assertThat(exit).as(err.toString()).isZero();
        assertThat(out.toString().lines().filter(line -> line.startsWith("RESULT ")))
                .hasSize(6)
                .allMatch(line -> line.endsWith("answer=right"))
                .first()
                .asString()
                .startsWith("RESULT bulk-join algorithm=cpu-radix query=rows build_rows=20000");
    }

    @Test
    void shouldJoinFilesAsDuckDb(@TempDir Path folder) {
        int exit =
                bench(
                        "files",
                        "--build-rows=1000",
                        "--probe-rows=20000",
                        "--rounds=1",
                        "--data=" + folder);
        assertThat(exit).as(err.toString()).isZero();
        assertThat(out.toString().lines().filter(line -> line.startsWith("RESULT ")))
                .hasSize(2)
                .allMatch(line -> line.endsWith("answer=right"))
                .first()
                .asString()
                .startsWith("RESULT file-join contender=gpu-join build_rows=1000");
    }

    @Test
    void shouldCompareEncodedChunksWithPlainOnes(@TempDir Path folder) {
        int exit =
                bench(
                        "encoding",
                        "--build-rows=20000",
                        "--probe-rows=100000",
                        "--rounds=1",
                        "--scale-factor=0.001",
                        "--queries=1.1",
                        "--data=" + folder);
        assertThat(exit).as(err.toString()).isZero();
        List<Matcher> results =
                out.toString().lines().map(RESULT::matcher).filter(Matcher::matches).toList();
        assertThat(results)
                .extracting(line -> line.group(1))
                .containsExactly("plain-20000", "encoded-20000");
        assertThat(results.get(0).group(3)).isEqualTo(results.get(1).group(3));
        assertThat(out.toString())
                .containsPattern("lineorder  lo_orderkey +6\\d{3} +\\d+ +\\d+ +2\\d\\.")
                .containsPattern("q1\\.1 +channels +\\d+ +\\d+ +\\d")
                .containsPattern("q1\\.1 +rings +\\d+ +\\d+ +\\d")
                .containsPattern("q1\\.1 +log +\\d+ +\\d+ +\\d");
    }

    @Test
    void shouldMeasureWhatCheckpointsCostAndRestoreTheBuildSide(@TempDir Path dir)
            throws Exception {
        Path json = dir.resolve("checkpoint.json");
        int exit =
                bench(
                        "checkpoint",
                        "--rounds=1",
                        "--interval-seconds=1",
                        "--round-seconds=2",
                        "--warm-up-seconds=0",
                        "--build-mib=4",
                        "--portions=2",
                        "-Dstate.backend.rocksdb.options-factory="
                                + AppendOnlyRocksDb.class.getName(),
                        "--folder=" + dir.resolve("checkpoints"),
                        "--json=" + json);
        assertThat(exit).as(err.toString()).isZero();
        JsonNode observations = new ObjectMapper().readTree(json.toFile()).at("/observations");
        assertThat(observations)
                .extracting(observation -> observation.at("/name").asText())
                .containsExactly(
                        "checkpoint-rate",
                        "checkpoint-growth",
                        "checkpoint-growth",
                        "checkpoint-growth",
                        "checkpoint-growth-total",
                        "checkpoint-restore");
        assertThat(observations.at("/0/values/checkpoints").asInt()).isPositive();
        assertThat(observations.at("/3/values/new_build_bytes").asInt()).isZero();
        assertThat(observations.at("/3/values/written_bytes").asLong())
                .isLessThan(observations.at("/2/values/written_bytes").asLong());
        assertThat(observations.at("/4/values/written_per_build_byte").asDouble()).isPositive();
        assertThat(dir.resolve("checkpoints")).doesNotExist();
    }

    @ParameterizedTest
    @ValueSource(strings = {"replicated", "partitioned"})
    void shouldCountEveryPairOfRowsOfAHeavyKey(String distribution) {
        int exit = bench("heavy-key", "--rows=3000", "--distribution=" + distribution);
        assertThat(exit).as(err.toString()).isZero();
        assertThat(out.toString()).contains("RESULT heavy-key rows=3000 results=9000000 ");
    }

    @Test
    void shouldMeasureLatencyUnderLoad() {
        int exit =
                bench(
                        "latency",
                        "--build-rows=1000",
                        "--chunk-rows=1024",
                        "--percent=10",
                        "--seconds=1");
        assertThat(exit).as(err.toString()).isZero();
        assertThat(out.toString())
                .containsPattern(
                        "RESULT latency chunk_rows=1024 percent_of_highest=10"
                                + " rows_per_second=[0-9.E]+ .* p50_us=[0-9.]+ p99_us=[0-9.]+");
    }

    @ParameterizedTest
    @ValueSource(strings = {"flink", "shm"})
    void shouldSendChunksBy(String transport) {
        int exit =
                bench(
                        "transport",
                        "--only=" + transport,
                        "--channels=2",
                        "--chunk-bytes=4096",
                        "--warm-up-ms=100",
                        "--measure-ms=1000");
        assertThat(exit).as(err.toString()).isZero();
        assertThat(out.toString().lines().filter(line -> line.startsWith("RESULT")))
                .hasSize(2)
                .allMatch(line -> !line.contains(" gb_per_second=0 "));
    }

    @Test
    void shouldCompareSharedRingsWithOthers() {
        int exit =
                bench(
                        "rings",
                        "--build-rows=1000",
                        "--probe-rows=50000",
                        "--slots=2",
                        "--flush-ms=2",
                        "--rounds=1");
        assertThat(exit).as(err.toString()).isZero();
        assertThat(out.toString().lines().filter(line -> line.startsWith("RESULT"))).hasSize(4);
        assertThat(out.toString().lines().filter(line -> line.startsWith("DETAIL shm-task")))
                .singleElement(STRING)
                .doesNotContain(" shared_chunks=0 ");
    }

    @ParameterizedTest
    @CsvSource({
        "nexmark, q3;q13, --events=20000",
        "tpch-stream, q5, --scale-factor=0.002",
        "temporal, inner;left, --events=20000"
    })
    void shouldCompareTheAnswersOfQueriesInSql(
            String command, String queries, String size, @TempDir Path dir) throws Exception {
        Path json = dir.resolve("result.json");
        int exit =
                bench(
                        command,
                        "--queries=" + queries.replace(';', ','),
                        size,
                        "--rounds=1",
                        "--json=" + json);
        assertThat(exit).as(err.toString()).isZero();
        assertThat(out.toString().lines())
                .hasSizeGreaterThan(2)
                .allMatch(
                        line ->
                                line.matches(
                                        "RESULT %s query=[a-z0-9]+ contender=[a-z-]+ events_per_core_second=[1-9].* answer=right"
                                                .formatted(command)));
        JsonNode first = new ObjectMapper().readTree(json.toFile()).at("/observations/0/values");
        assertThat(first.at("/contender").asText()).isEqualTo("flink");
        assertThat(first.at("/x_flink").asDouble()).isEqualTo(1);
    }

    @Test
    void shouldNameTheMissingDriverBeforeTheNativeBenchmarks() {
        assumeThat(Path.of("/dev/nvidiactl")).doesNotExist();

        assertThat(bench("gpu", "--native=nowhere")).isEqualTo(1);
        assertThat(err.toString())
                .startsWith("bin/bench gpu: CUDA driver cannot be loaded: library=libcuda.so.1")
                .contains("Install the NVIDIA driver.")
                .doesNotContain("CPU");
    }

    @ParameterizedTest
    @CsvSource({
        "join --build-rows 0, the number must be positive: --build-rows=0",
        "join --threads -1, the number must be positive: --threads=-1",
        "join --only duckdb;oracle, --only takes names of contenders: unknown=[oracle]",
        "files --probe-rows 0, A number is not positive: --build-rows=10000000",
        "gpu --log2-rows 30, --log2-rows is from 20 to 29: --log2-rows=30",
        "gpu --only ring;cpu, --only takes names of groups: unknown=[cpu]",
        "transport --channels 0, Channels are not within 1 and 64: --channels=0",
        "transport --chunk-bytes 100, Chunk size is not a multiple of 8 within 64 bytes and 16 MiB",
        "transport --only flink;tcp, --only takes names of transports: unknown=tcp",
        "rings --slots 0, A number is not positive: --build-rows=262144",
        "heavy-key --rows 0, Rows are not within 1 and 1000000",
        "ssb --format orc --scale-factor 0.001, Unknown --format: orc. Use one of [tbl; csv;",
        "ssb --data nowhere, Table files missing: directory=nowhere; tables=[date;",
        "ssb --scale-factor 0, Invalid --scale-factor: 0. Use a number above 0.",
        "ssb --query 5.1, Unknown --query: 5.1. Use some of [1.1;",
        "ssb --contender oracle, Unknown --contender: oracle. Use some of [ours;",
        "nexmark --events 0, --events is not within 1 and 20000000: 0",
        "nexmark --threads 0, --threads is not within 1 and 128: 0",
        "nexmark --slot-memory-mb 8, --slot-memory-mb is not within 32 and 1048576: 8",
        "nexmark --state files, Unknown --state: files. Use one of [hashmap; rocksdb].",
        "nexmark --contender oracle, Invalid value for option '--contender' (<planners>): 'oracle' is none of [ours;",
        "tpch-stream --scale-factor 0, --scale-factor is not above 0 and at most 10: 0.0",
        "temporal --currencies 0, --currencies is not within 1 and 10000000: 0",
        "tpch-stream --deleted-percent 101, --deleted-percent is not within 0 and 100: 101",
        "soak --minutes 1 --every-seconds 10, Fewer than 8 samples",
        "soak --fan-out 2, --fan-out; --json and --charts apply to slow sinks only",
        "soak --fan-out 0, Fewer than 8 samples",
    })
    void shouldRejectBadArgumentsInOneSentence(String args, String message) {
        String[] words = args.replace(';', ',').split(" ");
        assertThat(bench(words)).isEqualTo(2);
        assertThat(err.toString())
                .startsWith("bin/bench " + words[0] + ": " + message.replace(';', ','));
    }
}
