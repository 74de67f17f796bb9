// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.flink.api.PairJoinITCase.Kind;
import io.github.gpujoin.flink.api.data.ChunkTypeInfo;
import io.github.gpujoin.flink.api.data.JoinedChunkWriter;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExecutionOptions;
import org.apache.flink.configuration.JobManagerOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(120)
class ChunkJoinITCase {

    @RegisterExtension
    private static final MiniClusterExtension CLUSTER =
            new MiniClusterExtension(
                    new MiniClusterResourceConfiguration.Builder()
                            .setNumberTaskManagers(1)
                            .setNumberSlotsPerTaskManager(4)
                            .build());

    private static final ChunkSchema LEFT =
            ChunkSchema.of(
                    Column.of("left_key", ColumnType.INT64), Column.of("l", ColumnType.INT32));
    private static final ChunkSchema RIGHT =
            ChunkSchema.of(
                    Column.of("right_key", ColumnType.INT64), Column.of("r", ColumnType.INT32));

    /** Rows of the writers that have finished. */
    private static final List<String> RESULTS = Collections.synchronizedList(new ArrayList<>());

    @BeforeEach
    void clear() {
        RESULTS.clear();
    }

    /** Makes rows visible when it finishes. */
    private static final class Rows implements JoinedChunkWriter {

        private final List<String> rows = new ArrayList<>();
        private final boolean fails;

        Rows(boolean fails) {
            this.fails = fails;
        }

        @Override
        public void write(Chunk chunk, boolean hasLeft, boolean hasRight) {
            int right = hasLeft ? 2 : 0;
            for (int row = 0; row < chunk.rowCount(); row++) {
                String left = hasLeft ? chunk.getLong(0, row) + "," + chunk.getInt(1, row) : "-";
                rows.add(
                        hasRight
                                ? left
                                        + " "
                                        + chunk.getLong(right, row)
                                        + ","
                                        + chunk.getInt(right + 1, row)
                                : left);
            }
        }

        @Override
        public void finish() throws IOException {
            if (fails) {
                throw new IOException("The disk is full");
            }
            RESULTS.addAll(rows);
        }

        @Override
        public void close() {
            rows.clear();
        }
    }

    private static StreamExecutionEnvironment environment(RuntimeExecutionMode mode) {
        Configuration config = new Configuration();
        config.set(ExecutionOptions.RUNTIME_MODE, mode);
        config.set(JobManagerOptions.SCHEDULER, JobManagerOptions.SchedulerType.Default);
        config.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
        return StreamExecutionEnvironment.getExecutionEnvironment(config);
    }

    /** Chunks of several rows whose keys repeat. */
    private static List<Chunk> chunks(ChunkSchema schema, Random random, int rows, int keys) {
        List<Chunk> chunks = new ArrayList<>();
        ChunkBuilder builder = new ChunkBuilder(schema, 12 * 64);
        for (int i = 0; i < rows; i++) {
            builder.putLong(0, random.nextInt(keys));
            builder.putInt(1, i);
            builder.endRow();
            if (builder.isFull() || i == rows - 1) {
                chunks.add(
                        builder.seal(ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, 0, 0));
            }
        }
        return chunks;
    }

    /** The parallelism is that of the sides: chunks of one subtask are passed by reference. */
    private static DataStream<Chunk> stream(
            StreamExecutionEnvironment env, List<Chunk> chunks, int parallelism) {
        DataStream<Chunk> source = env.fromData(chunks, ChunkTypeInfo.of(chunks.get(0).schema()));
        return parallelism == 1
                ? source
                : source.rebalance()
                        .map(chunk -> chunk)
                        .returns(source.getType())
                        .setParallelism(parallelism);
    }

    @ParameterizedTest
    @CsvSource({
        "INNER, 1",
        "INNER, 3",
        "LEFT, 1",
        "LEFT, 2",
        "RIGHT, 1",
        "RIGHT, 2",
        "FULL, 1",
        "FULL, 3",
        "SEMI, 1",
        "SEMI, 2",
        "ANTI, 1",
        "ANTI, 2"
    })
    void shouldJoinAsNestedLoopsDo(Kind kind, int parallelism) throws Exception {
        Random random = new Random(kind.ordinal());
        List<Chunk> left = chunks(LEFT, random, 3_000, 900);
        List<Chunk> right = chunks(RIGHT, random, 1_000, 700);
        StreamExecutionEnvironment env = environment(RuntimeExecutionMode.BATCH);

        DataStream<Long> count =
                ofKind(
                                kind,
                                ChunkJoin.of(
                                        stream(env, left, parallelism),
                                        stream(env, right, parallelism)))
                        .on(List.of("left_key"), List.of("right_key"))
                        .write((attempt, threads) -> new Rows(false));

        List<String> expected = expected(kind, left, right);
        try (CloseableIterator<Long> counts = count.executeAndCollect()) {
            assertThat(counts).toIterable().containsExactly((long) expected.size());
        }
        assertThat(RESULTS).containsExactlyInAnyOrderElementsOf(expected);
    }

    @Test
    void shouldReadBothSidesAgainIfAnAttemptFails() throws Exception {
        List<Chunk> left = chunks(LEFT, new Random(1), 2_000, 500);
        List<Chunk> right = chunks(RIGHT, new Random(2), 500, 500);
        StreamExecutionEnvironment env = environment(RuntimeExecutionMode.BATCH);

        ChunkJoin.of(stream(env, left, 1), stream(env, right, 1))
                .on(List.of("left_key"), List.of("right_key"))
                .write((attempt, threads) -> new Rows(attempt == 0))
                .sinkTo(new DiscardingSink<>());
        env.execute();

        assertThat(RESULTS).containsExactlyInAnyOrderElementsOf(expected(Kind.INNER, left, right));
    }

    /** A sender waits for room beside the channel while tickets of a few bytes wait in it. */
    @Test
    void shouldFlushTheTicketOfEachChunk() {
        StreamExecutionEnvironment env = environment(RuntimeExecutionMode.BATCH);
        List<Chunk> left = chunks(LEFT, new Random(1), 1, 1);
        List<Chunk> right = chunks(RIGHT, new Random(1), 1, 1);

        ChunkJoin.of(stream(env, left, 1), stream(env, right, 1))
                .on(List.of("left_key"), List.of("right_key"))
                .write((attempt, threads) -> new Rows(false))
                .sinkTo(new DiscardingSink<>());

        assertThat(env.getStreamGraph().getStreamNodes())
                .filteredOn(node -> node.getOperatorName().startsWith("send "))
                .hasSize(2)
                .allSatisfy(node -> assertThat(node.getBufferTimeout()).isZero());
    }

    @Test
    void shouldRejectStreamingMode() {
        StreamExecutionEnvironment env = environment(RuntimeExecutionMode.STREAMING);
        List<Chunk> left = chunks(LEFT, new Random(1), 1, 1);
        List<Chunk> right = chunks(RIGHT, new Random(1), 1, 1);
        ChunkJoin join =
                ChunkJoin.of(stream(env, left, 1), stream(env, right, 1))
                        .on(List.of("left_key"), List.of("right_key"))
                        .uid("mine");

        assertThatThrownBy(() -> join.write((attempt, threads) -> new Rows(false)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage(
                        "Join of bounded chunks in streaming mode: uid=mine. Set"
                                + " execution.runtime-mode to BATCH before the join is made.");
    }

    private static ChunkJoin ofKind(Kind kind, ChunkJoin join) {
        return switch (kind) {
            case INNER -> join;
            case LEFT -> join.left();
            case RIGHT -> join.right();
            case FULL -> join.full();
            case SEMI -> join.semi();
            case ANTI -> join.anti();
        };
    }

    private static List<String> expected(Kind kind, List<Chunk> left, List<Chunk> right) {
        List<String> lefts = texts(left);
        List<String> rights = texts(right);
        List<String> rows = new ArrayList<>();
        List<String> unmatchedRights = new ArrayList<>(rights);
        for (String l : lefts) {
            List<String> matches = rights.stream().filter(r -> key(r).equals(key(l))).toList();
            unmatchedRights.removeAll(matches);
            switch (kind) {
                case INNER, RIGHT -> matches.forEach(r -> rows.add(l + " " + r));
                case LEFT, FULL -> {
                    matches.forEach(r -> rows.add(l + " " + r));
                    if (matches.isEmpty()) {
                        rows.add(l);
                    }
                }
                case SEMI -> rows.addAll(matches.isEmpty() ? List.of() : List.of(l));
                case ANTI -> rows.addAll(matches.isEmpty() ? List.of(l) : List.of());
            }
        }
        if (kind == Kind.RIGHT || kind == Kind.FULL) {
            unmatchedRights.forEach(r -> rows.add("- " + r));
        }
        return rows;
    }

    private static List<String> texts(List<Chunk> chunks) {
        List<String> texts = new ArrayList<>();
        for (Chunk chunk : chunks) {
            for (int row = 0; row < chunk.rowCount(); row++) {
                texts.add(chunk.getLong(0, row) + "," + chunk.getInt(1, row));
            }
        }
        return texts;
    }

    private static String key(String row) {
        return row.substring(0, row.indexOf(','));
    }
}
