// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExternalizedCheckpointRetention;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.runtime.checkpoint.Checkpoints;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.Test;

/** Restores an unaligned checkpoint with facts in its channels, whose columns may differ. */
class RestoredInFlightITCase extends RestoredJobs {

    private static final String[] COLUMNS = {"key", "a", "b"};
    private static final String[] SWAPPED = {"key", "b", "a"};

    /** More than the join holds back for a slow output. */
    private static final int MANY_FACTS = 20 * FACTS;

    @Test
    void shouldRestoreChunksInFlightOfSameColumns() throws Exception {
        String checkpoint = checkpoint(records(COLUMNS));
        RESULTS.clear();
        restore(checkpoint, "hashmap", records(COLUMNS), config());
        assertThat(RESULTS)
                .isNotEmpty()
                .allMatch(result -> result.endsWith("1|" + k(result) + "2"));
    }

    private static String k(String result) {
        return result.substring(0, result.indexOf('|') - 1);
    }

    @Test
    void shouldRefuseChunksInFlightWithOtherRecords() throws Exception {
        String checkpoint = checkpoint(records(COLUMNS));
        assertThatThrownBy(() -> restore(checkpoint, "hashmap", records(SWAPPED), config()))
                .hasStackTraceContaining("Chunk in flight of 'facts' was written with other types")
                .hasStackTraceContaining("from a savepoint or an aligned checkpoint");
    }

    @Test
    void shouldRefuseChunksInFlightWithOtherColumns() throws Exception {
        String checkpoint = checkpoint(selected("a", "b"));
        assertThatThrownBy(() -> restore(checkpoint, "hashmap", selected("b"), config()))
                .hasStackTraceContaining("Chunk in flight has other columns")
                .hasStackTraceContaining("from a savepoint or an aligned checkpoint");
    }

    /** Pairs of which each takes a while, so that facts fill the join and then the channels. */
    private static Job records(String... names) {
        return (env, paced) ->
                sink(
                        PairJoin.build(numbers(env, "numbers", KEYS))
                                .probe(
                                        numbers(env, "facts", MANY_FACTS)
                                                .map(n -> fact(n, names), type(names)))
                                .where(number -> number, Types.LONG)
                                .equalTo(fact -> fact.getFieldAs(0), Types.LONG)
                                .uid("join")
                                .apply(
                                        (number, fact) -> {
                                            pause(paced);
                                            return fact.getField(names[1].equals("a") ? 1 : 2)
                                                    + "|"
                                                    + fact.getField(names[1].equals("a") ? 2 : 1);
                                        },
                                        Types.STRING));
    }

    private static Job selected(String... columns) {
        return (env, paced) ->
                sink(
                        StarJoin.of(
                                        numbers(env, "facts", MANY_FACTS)
                                                .map(n -> fact(n, COLUMNS), type(COLUMNS)))
                                .select(columns)
                                .dimension(
                                        numbers(env, "numbers", KEYS)
                                                .map(
                                                        Row::of,
                                                        Types.ROW_NAMED(
                                                                new String[] {"key"}, Types.LONG)),
                                        d -> d.on("key", "key").partitioned())
                                .uid("join")
                                .toRows()
                                .map(
                                        row -> {
                                            pause(paced);
                                            return row.toString();
                                        })
                                .returns(Types.STRING));
    }

    private static void pause(boolean paced) throws InterruptedException {
        if (paced) {
            TimeUnit.MILLISECONDS.sleep(5);
        }
    }

    private static TypeInformation<Row> type(String... names) {
        return Types.ROW_NAMED(names, Types.LONG, Types.LONG, Types.LONG);
    }

    private static Row fact(long n, String... names) {
        long key = n % KEYS;
        long a = 10 * key + 1;
        long b = 10 * key + 2;
        return names[1].equals("a") ? Row.of(key, a, b) : Row.of(key, b, a);
    }

    private Configuration config() {
        Configuration config = new Configuration();
        config.set(CheckpointingOptions.ENABLE_UNALIGNED, true);
        config.set(CheckpointingOptions.CHECKPOINTS_DIRECTORY, folder().toUri().toString());
        config.set(
                CheckpointingOptions.EXTERNALIZED_CHECKPOINT_RETENTION,
                ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION);
        config.setString("gpu-join.chunk-bytes", "256b");
        return config;
    }

    /** Cancels a job once a checkpoint holds chunks in flight; returns that checkpoint. */
    private String checkpoint(Job job) throws Exception {
        JobClient client = start(config(), "hashmap", job, true);
        while (checkpoints().stream().noneMatch(RestoredInFlightITCase::holdsChunksInFlight)) {
            assertThat(client.getJobExecutionResult()).isNotDone();
            TimeUnit.MILLISECONDS.sleep(20);
        }
        client.cancel().get(60, TimeUnit.SECONDS);
        Path last =
                checkpoints().stream()
                        .max(Comparator.comparing(path -> path.toFile().lastModified()))
                        .orElseThrow();
        assertThat(holdsChunksInFlight(last)).isTrue();
        return last.getParent().toUri().toString();
    }

    private static boolean holdsChunksInFlight(Path checkpoint) {
        try (DataInputStream in = new DataInputStream(Files.newInputStream(checkpoint))) {
            return Checkpoints.loadCheckpointMetadata(
                            in,
                            RestoredInFlightITCase.class.getClassLoader(),
                            checkpoint.getParent().toString())
                    .getOperatorStates()
                    .stream()
                    .flatMap(operator -> operator.getStates().stream())
                    .anyMatch(
                            state ->
                                    state.getInputChannelState().hasState()
                                            || state.getResultSubpartitionState().hasState());
        } catch (IOException e) {
            return false; // It is being written, or was deleted after a later one.
        }
    }

    private List<Path> checkpoints() throws IOException {
        try (Stream<Path> files = Files.walk(folder())) {
            return files.filter(file -> file.endsWith("_metadata")).toList();
        } catch (UncheckedIOException e) {
            return List.of(); // A checkpoint is deleted while its folder is read.
        }
    }
}
