// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Restores a savepoint by a job that reads a dimension again, which had been read to its end. Row
 * {@code k} of each dimension has {@code a = 10 k + 1} and {@code b = 10 k + 2}.
 */
class DimensionReadAgainITCase extends RestoredJobs {

    @ParameterizedTest(name = "partitioned={0} on {1}")
    @CsvSource({"true,rocksdb", "false,hashmap"})
    void shouldReadDimensionAgainForColumnMore(boolean partitioned, String backend)
            throws Exception {
        String savepoint = stop(backend, star(partitioned, 0, "numbers", "key", "a"));
        int before = RESULTS.size();
        RESULTS.clear();
        readAgain(savepoint, backend, star(partitioned, 1, "numbers-1", "key", "a", "b"));
        // The job may restart during the savepoint, and then repeats results.
        assertThat(RESULTS).hasSizeBetween(FACTS - before, FACTS);
        assertThat(RESULTS.stream().distinct())
                .containsExactlyInAnyOrderElementsOf(results("%1$d,%2$d,%3$d,%2$d"));
    }

    @Test
    void shouldRestoreDimensionThatWasReadAgain() throws Exception {
        String savepoint = stop("hashmap", star(true, 0, "numbers", "key", "a"));
        RESULTS.clear();
        Job second = star(true, 1, "numbers-1", "key", "b");
        Configuration config = allowingNonRestored(savepoint);
        JobClient client = start(config, "hashmap", second, true);
        String later = stop(client);
        RESULTS.clear();
        restore(later, "hashmap", second);
        assertThat(RESULTS).isNotEmpty().allMatch(results("%1$d,%3$d,%2$d")::contains);
    }

    /** The facts that wait are joined with rows that were read again too. */
    @Test
    void shouldReadBuildSideOfPairsAgain() throws Exception {
        String savepoint = stop("rocksdb", pairs(0, "numbers", 1));
        int before = RESULTS.size();
        RESULTS.clear();
        readAgain(savepoint, "rocksdb", pairs(1, "numbers-1", 2));
        assertThat(RESULTS).hasSizeBetween(FACTS - before, FACTS);
        assertThat(RESULTS.stream().distinct())
                .containsExactlyInAnyOrderElementsOf(results("%3$d"));
    }

    /** Rows of the snapshot passed the old filter; those that are read again pass the new one. */
    @Test
    void shouldAcceptAnotherFilterOfDimensionThatIsReadAgain() throws Exception {
        String savepoint = stop("hashmap", filtered(0, "numbers", 10));
        RESULTS.clear();
        readAgain(savepoint, "hashmap", filtered(1, "numbers-1", 20));
        assertThat(RESULTS.stream().distinct())
                .containsExactlyInAnyOrderElementsOf(results("%1$d").subList(0, 20));
    }

    @Test
    void shouldRefuseSourceThatKeepsItsState() throws Exception {
        String savepoint = stop("hashmap", star(true, 0, "numbers", "key", "a"));
        assertThatThrownBy(
                        () -> readAgain(savepoint, "hashmap", star(true, 1, "numbers", "key", "b")))
                .hasStackTraceContaining("Dimension 'numbers' cannot be read again")
                .hasStackTraceContaining("[numbers]");
    }

    /** Flink restores all operators of a task or none, once it knows that the source has ended. */
    @Test
    void shouldRefuseChainedSourceThatKeepsItsState() throws Exception {
        String savepoint = stop("hashmap", star(false, 0, "numbers", "key", "a"));
        assertThatThrownBy(
                        () ->
                                readAgain(
                                        savepoint,
                                        "hashmap",
                                        star(false, 1, "numbers", "key", "b")))
                .satisfiesAnyOf(
                        refused ->
                                assertThat(refused)
                                        .hasStackTraceContaining("mixed operator finished state"),
                        refused ->
                                assertThat(refused)
                                        .hasStackTraceContaining(
                                                "Dimension 'numbers' cannot be read again"));
    }

    @Test
    void shouldRefuseSourceWithoutUid() throws Exception {
        String savepoint = stop("hashmap", star(true, 0, "numbers", "key", "a"));
        assertThatThrownBy(() -> readAgain(savepoint, "hashmap", star(true, 1, null, "key", "b")))
                .hasStackTraceContaining("Dimension 'numbers' cannot be read again")
                .hasStackTraceContaining("without a uid");
    }

    @Test
    void shouldRefuseEarlierGeneration() throws Exception {
        String savepoint = stop("hashmap", star(true, 2, "numbers", "key", "a"));
        assertThatThrownBy(
                        () ->
                                readAgain(
                                        savepoint,
                                        "hashmap",
                                        star(true, 1, "numbers-1", "key", "a")))
                .hasStackTraceContaining("Generation of dimension 'numbers' was 2 and is 1");
    }

    @Test
    void shouldRefuseGenerationWhereRowsCannotBeReadAgain() {
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        assertThatThrownBy(() -> star(true, -1, "numbers", "key", "a").define(env, false))
                .hasMessageContaining("generation");
        assertThatThrownBy(
                        () ->
                                StarJoin.of(facts(env, false))
                                        .dimension(
                                                rows(env, "versions", "versions"),
                                                d ->
                                                        d.on("key", "key")
                                                                .versioned()
                                                                .generation(1)
                                                                .select("a"))
                                        .toRows())
                .hasMessageContaining("versioned");
        assertThatThrownBy(
                        () ->
                                StarJoin.of(facts(env, false))
                                        .dimension(
                                                rows(env, "changes", "changes"),
                                                d ->
                                                        d.on("key", "key")
                                                                .changelog()
                                                                .generation(1)
                                                                .select("a"))
                                        .toRows())
                .hasMessageContaining(".completeAtWatermark");
        assertThatThrownBy(
                        () ->
                                PairJoin.build(numbers(env, "numbers", KEYS))
                                        .probe(facts(env, false))
                                        .where(k -> k, Types.LONG)
                                        .equalTo(fact -> fact.getFieldAs(0), Types.LONG)
                                        .right()
                                        .buildGeneration(1)
                                        .apply((number, fact) -> "", Types.STRING))
                .hasMessageContaining("RIGHT");
    }

    private static List<String> results(String format) {
        return LongStream.range(0, KEYS)
                .mapToObj(k -> String.format(format, k, 10 * k + 1, 10 * k + 2))
                .toList();
    }

    // ------------------------------------------------------------------ jobs

    /**
     * A dimension that may be read again, beside one that is not.
     *
     * @param uid of the source of the first; null for none
     * @param columns selected of the first
     */
    private static Job star(boolean partitioned, int generation, String uid, String... columns) {
        return (env, paced) -> {
            DataStream<Row> rows = rows(env, "numbers", uid);
            // Behind an exchange the source is in a task of its own.
            StarJoin<Row> numbers =
                    StarJoin.of(facts(env, paced))
                            .dimension(
                                    partitioned ? rows.rebalance() : rows,
                                    d -> {
                                        d.named("numbers")
                                                .on("key", "key")
                                                .generation(generation)
                                                .select(columns);
                                        if (partitioned) {
                                            d.partitioned();
                                        }
                                    });
            sink(
                    numbers.dimension(
                                    rows(env, "others", "others"),
                                    d -> d.named("others").on("key", "key").select("a AS other"))
                            .uid("join")
                            .toRows()
                            .map(DimensionReadAgainITCase::text)
                            .returns(Types.STRING));
        };
    }

    private static String text(Row row) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < row.getArity(); i++) {
            text.append(i == 0 ? "" : ",").append(row.getField(i));
        }
        return text.toString();
    }

    private static Job pairs(int generation, String uid, int column) {
        return (env, paced) ->
                sink(
                        PairJoin.build(rows(env, "numbers", uid))
                                .probe(facts(env, paced))
                                .where(row -> row.getFieldAs(0), Types.LONG)
                                .equalTo(fact -> fact.getFieldAs(0), Types.LONG)
                                .buildGeneration(generation)
                                .uid("join")
                                .apply(
                                        (row, fact) -> String.valueOf(row.getField(column)),
                                        Types.STRING));
    }

    private static Job filtered(int generation, String uid, long below) {
        return (env, paced) ->
                sink(
                        StarJoin.of(facts(env, paced))
                                .dimension(
                                        rows(env, "numbers", uid),
                                        d ->
                                                d.named("numbers")
                                                        .on("key", "key")
                                                        .where(
                                                                row ->
                                                                        row.<Long>getFieldAs(0)
                                                                                < below)
                                                        .generation(generation)
                                                        .select("key"))
                                .uid("join")
                                .toRows()
                                .map(DimensionReadAgainITCase::text)
                                .returns(Types.STRING));
    }

    private static DataStream<Row> rows(StreamExecutionEnvironment env, String name, String uid) {
        DataStream<Long> numbers = uid == null ? source(env, name, KEYS) : numbers(env, uid, KEYS);
        return numbers.map(
                k -> Row.of(k, 10 * k + 1, 10 * k + 2),
                Types.ROW_NAMED(
                        new String[] {"key", "a", "b"}, Types.LONG, Types.LONG, Types.LONG));
    }

    private static Configuration allowingNonRestored(String savepoint) {
        Configuration config = new Configuration();
        config.set(StateRecoveryOptions.SAVEPOINT_PATH, savepoint);
        config.set(StateRecoveryOptions.SAVEPOINT_IGNORE_UNCLAIMED_STATE, true);
        return config;
    }

    private void readAgain(String savepoint, String backend, Job job) throws Exception {
        start(allowingNonRestored(savepoint), backend, job, false)
                .getJobExecutionResult()
                .get(60, TimeUnit.SECONDS);
    }
}
