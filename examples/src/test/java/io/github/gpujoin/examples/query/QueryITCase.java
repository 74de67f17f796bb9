// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.query;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.examples.data.Benchmark;
import io.github.gpujoin.examples.data.DataFiles;
import io.github.gpujoin.examples.files.TableFiles;
import io.github.gpujoin.examples.files.TableFormat;
import io.github.gpujoin.examples.run.JobCluster;
import io.github.gpujoin.examples.run.JobOptions;
import io.github.gpujoin.examples.tbl.TblTable;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Every query answers as DuckDB does on the same files. */
@ExtendWith(RegionLeakExtension.PerClass.class)
class QueryITCase {

    private static final Map<Benchmark, Double> SCALE_FACTORS =
            Map.of(Benchmark.SSB, 0.02, Benchmark.TPCH, 0.01);

    @TempDir private static Path directory;

    private static final Map<String, List<List<String>>> EXPECTED = new HashMap<>();
    private static JobCluster cluster;

    /** Options as on the command line. */
    @Command
    private static final class Options {
        @Mixin private JobOptions job;
    }

    @BeforeAll
    static void makeDataAndAskDuckDb() throws Exception {
        for (Benchmark benchmark : Benchmark.values()) {
            Path data = directory.resolve(benchmark.label());
            DataFiles.makeMissing(benchmark, data, SCALE_FACTORS.get(benchmark), table -> {});
            try (DuckDb duckDb = new DuckDb()) {
                for (TblTable table : benchmark.tables()) {
                    duckDb.load(table, data, true);
                }
                for (Query query : Queries.of(benchmark)) {
                    EXPECTED.put(query.name(), duckDb.query(query.sql()));
                }
            }
        }
        cluster = JobCluster.open(4, new Configuration());
    }

    @AfterAll
    static void closeCluster() throws Exception {
        cluster.close();
    }

    static Stream<Arguments> settings() {
        List<Arguments> settings = new ArrayList<>();
        for (int parallelism : new int[] {1, 2, 4}) {
            for (String state : new String[] {"hashmap", "rocksdb"}) {
                for (String engine : new String[] {"cpu", "reference"}) {
                    settings.add(Arguments.of(parallelism, state, engine));
                }
            }
            // Where there is no GPU this shows that the CPU steps in.
            settings.add(Arguments.of(parallelism, "hashmap", "gpu"));
        }
        return settings.stream();
    }

    @ParameterizedTest(name = "parallelism {0}, state {1}, engine {2}")
    @MethodSource("settings")
    void shouldAnswerEveryQueryAsDuckDbDoes(int parallelism, String state, String engine)
            throws Exception {
        StreamExecutionEnvironment env =
                environment(
                        "--parallelism=" + parallelism, "--state=" + state, "--engine=" + engine);
        SoftAssertions answers = new SoftAssertions();
        for (Benchmark benchmark : Benchmark.values()) {
            QueryRunner runner =
                    new QueryRunner(env, directory.resolve(benchmark.label()), nowhere());
            assertAnswers(answers, runner, benchmark);
        }
        answers.assertAll();
    }

    private static void assertAnswers(
            SoftAssertions answers, QueryRunner runner, Benchmark benchmark) throws Exception {
        for (Query query : Queries.of(benchmark)) {
            List<List<String>> answer =
                    runner.run(query).rows().stream().map(Arrays::asList).toList();
            answers.assertThat(answer).as(query.label()).isEqualTo(EXPECTED.get(query.name()));
        }
    }

    /** TPC-H 4 is a partitioned join. */
    @Test
    void shouldAnswerTheSameThroughRings() throws Exception {
        QueryRunner runner =
                new QueryRunner(
                        environment(
                                "--parallelism=4", "--checkpoint-interval=20", "--transport=shm"),
                        directory.resolve(Benchmark.TPCH.label()),
                        nowhere());
        assertThat(
                        runner.run(Queries.named("tpch-4").get(0)).rows().stream()
                                .map(Arrays::asList)
                                .toList())
                .isEqualTo(EXPECTED.get("tpch-4"));
    }

    @ParameterizedTest
    @EnumSource(TableFormat.class)
    void shouldAnswerTheSameFromFilesOfOtherFormats(TableFormat format) throws Exception {
        SoftAssertions answers = new SoftAssertions();
        StreamExecutionEnvironment env =
                environment("--parallelism=2", "--checkpoint-interval=50", "--engine=cpu");
        for (Benchmark benchmark : Benchmark.values()) {
            Path data = directory.resolve(benchmark.label());
            TableFiles files = new TableFiles(data, format);
            for (TblTable table : files.missing(benchmark.tables())) {
                files.make(table);
            }
            QueryRunner runner = new QueryRunner(env, data, format, nowhere());
            assertAnswers(answers, runner, benchmark);
        }
        answers.assertAll();
    }

    @Test
    void shouldAnswerTheSameWhereCheckpointsAreTaken() throws Exception {
        QueryRunner runner =
                new QueryRunner(
                        environment("--parallelism=2", "--checkpoint-interval=20"),
                        directory.resolve(Benchmark.SSB.label()),
                        nowhere());
        for (String name : new String[] {"1.1", "3.1", "4.2"}) {
            Query query = Queries.named(name).get(0);
            assertThat(runner.run(query).rows().stream().map(Arrays::asList).toList())
                    .isEqualTo(EXPECTED.get(name));
        }
    }

    @Test
    void shouldHaveDataForWhichAlmostAllAnswersHoldRows() {
        assertThat(EXPECTED.values().stream().filter(rows -> !rows.isEmpty()).count())
                .isGreaterThanOrEqualTo(14);
    }

    @Test
    void shouldCountTheRowsOfTheFactTable() throws Exception {
        Query query = Queries.named("1.3").get(0);
        QueryResult result =
                new QueryRunner(environment(), directory.resolve(Benchmark.SSB.label()), nowhere())
                        .run(query);
        assertThat(result.factRows()).isBetween(118_000L, 122_000L);
    }

    private static StreamExecutionEnvironment environment(String... arguments) throws Exception {
        Options options = new Options();
        new CommandLine(options).setCaseInsensitiveEnumValuesAllowed(true).parseArgs(arguments);
        return cluster.env(options.job.configuration());
    }

    private static PrintWriter nowhere() {
        return new PrintWriter(Writer.nullWriter());
    }
}
