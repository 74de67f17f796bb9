// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import io.github.gpujoin.flink.api.options.LateDimensionRows;
import java.io.Serializable;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.ReaderInfo;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SourceSplit;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.api.connector.source.SupportsSplitReassignmentOnRecovery;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.core.io.InputStatus;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A dimension whose source assigns its splits to other subtasks after a failure. */
@Timeout(60)
class ReassignedSplitsITCase {

    private static final int SPLITS = 2;
    private static final long ROWS = 20;
    private static final long COMPLETE_AT = 1_000;

    /** Key of rows that repeat the watermark. */
    private static final long MATCHES_NOTHING = -1;

    /** Rows of the second split before the failure. */
    private static final long ROWS_BEFORE = ROWS / 2;

    private static final int FAIL_AFTER_CHECKPOINTS = 5;
    private static final AtomicBoolean FAILED = new AtomicBoolean();
    private static final AtomicInteger CHECKPOINTS = new AtomicInteger();

    @RegisterExtension
    static final MiniClusterExtension CLUSTER =
            new MiniClusterExtension(
                    new MiniClusterResourceConfiguration.Builder()
                            .setNumberTaskManagers(1)
                            .setNumberSlotsPerTaskManager(SPLITS)
                            .build());

    @Test
    void shouldWaitForTheWatermarkOfSplitsThatASubtaskReceives() throws Exception {
        Configuration config = new Configuration();
        config.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
        config.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, 1);
        config.set(
                RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ofMillis(10));
        config.set(GpuJoinOptions.LATE_DIMENSION_ROWS, LateDimensionRows.DROP);
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(config);
        env.setParallelism(SPLITS);
        env.enableCheckpointing(50);
        env.getConfig().setAutoWatermarkInterval(10);
        List<Long> matched = new ArrayList<>();
        try (CloseableIterator<Row> results =
                StarJoin.of(
                                env.fromSource(
                                                new NumberSequenceSource(0, SPLITS * ROWS - 1),
                                                WatermarkStrategy.noWatermarks(),
                                                "facts")
                                        .map(n -> Row.of(n))
                                        .returns(Types.ROW_NAMED(new String[] {"key"}, Types.LONG)))
                        .select("key")
                        .dimension(
                                env.fromSource(
                                                new TwoSplits(),
                                                WatermarkStrategy.<Long>forMonotonousTimestamps(),
                                                "rows",
                                                Types.LONG)
                                        .map(n -> Row.of(n))
                                        .returns(Types.ROW_NAMED(new String[] {"key"}, Types.LONG)),
                                d ->
                                        d.on("key", "key")
                                                .left()
                                                .select("key AS match")
                                                .completeAtWatermark(COMPLETE_AT))
                        .uid("join")
                        .toRows()
                        .executeAndCollect()) {
            for (long i = 0; i < SPLITS * ROWS; i++) {
                matched.add((Long) results.next().getField(1));
            }
        }
        assertThat(FAILED).isTrue();
        assertThat(matched)
                .containsExactlyInAnyOrderElementsOf(
                        LongStream.range(0, SPLITS * ROWS).boxed().toList());
    }

    /** Rows of a split, the last one of a time that completes the dimension. */
    private record Split(int number, long position) implements SourceSplit, Serializable {

        @Override
        public String splitId() {
            return String.valueOf(number);
        }
    }

    private static final class TwoSplits
            implements Source<Long, Split, Boolean>, SupportsSplitReassignmentOnRecovery {

        private static final long serialVersionUID = 1L;

        @Override
        public Boundedness getBoundedness() {
            return Boundedness.CONTINUOUS_UNBOUNDED;
        }

        @Override
        public SourceReader<Long, Split> createReader(SourceReaderContext context) {
            return new Reader();
        }

        @Override
        public SplitEnumerator<Split, Boolean> createEnumerator(
                SplitEnumeratorContext<Split> context) {
            return new Enumerator(context);
        }

        @Override
        public SplitEnumerator<Split, Boolean> restoreEnumerator(
                SplitEnumeratorContext<Split> context, Boolean state) {
            return new Enumerator(context);
        }

        @Override
        public SimpleVersionedSerializer<Split> getSplitSerializer() {
            return new SimpleVersionedSerializer<>() {
                @Override
                public int getVersion() {
                    return 1;
                }

                @Override
                public byte[] serialize(Split split) {
                    return ByteBuffer.allocate(12)
                            .putInt(split.number)
                            .putLong(split.position)
                            .array();
                }

                @Override
                public Split deserialize(int version, byte[] bytes) {
                    ByteBuffer buffer = ByteBuffer.wrap(bytes);
                    return new Split(buffer.getInt(), buffer.getLong());
                }
            };
        }

        @Override
        public SimpleVersionedSerializer<Boolean> getEnumeratorCheckpointSerializer() {
            return new SimpleVersionedSerializer<>() {
                @Override
                public int getVersion() {
                    return 1;
                }

                @Override
                public byte[] serialize(Boolean state) {
                    return new byte[] {1};
                }

                @Override
                public Boolean deserialize(int version, byte[] bytes) {
                    return true;
                }
            };
        }
    }

    /** Swaps the splits that readers report after a failure. */
    private static final class Enumerator implements SplitEnumerator<Split, Boolean> {

        private final SplitEnumeratorContext<Split> context;

        Enumerator(SplitEnumeratorContext<Split> context) {
            this.context = context;
        }

        @Override
        public void start() {}

        @Override
        public void handleSplitRequest(int subtask, String host) {}

        @Override
        public void addSplitsBack(List<Split> splits, int subtask) {}

        @Override
        public void addReader(int subtask) {
            if (context.registeredReaders().size() < SPLITS) {
                return;
            }
            List<Split> reported = new ArrayList<>();
            for (ReaderInfo reader : context.registeredReaders().values()) {
                reported.addAll(reader.<Split>getReportedSplitsOnRegistration());
            }
            for (Split split : reported) {
                context.assignSplit(split, SPLITS - 1 - split.number);
            }
            for (int i = 0; i < SPLITS && reported.isEmpty(); i++) {
                context.assignSplit(new Split(i, 0), i);
            }
        }

        @Override
        public Boolean snapshotState(long checkpointId) {
            return true;
        }

        @Override
        public void close() {}
    }

    private static final class Reader implements SourceReader<Long, Split> {

        private Split split;

        @Override
        public void start() {}

        @Override
        public InputStatus pollNext(ReaderOutput<Long> output) throws Exception {
            if (split == null || split.position == ROWS) {
                Thread.sleep(20);
                if (split != null) {
                    output.collect(MATCHES_NOTHING, COMPLETE_AT + 1);
                }
                return InputStatus.MORE_AVAILABLE;
            }
            if (split.number == 1 && split.position == ROWS_BEFORE && !FAILED.get()) {
                if (CHECKPOINTS.get() > FAIL_AFTER_CHECKPOINTS) {
                    FAILED.set(true);
                    throw new IllegalStateException("a failure to recover from");
                }
                Thread.sleep(1);
                return InputStatus.MORE_AVAILABLE;
            }
            boolean isLast = split.position == ROWS - 1;
            output.collect(
                    split.number * ROWS + split.position,
                    isLast ? COMPLETE_AT + 1 : split.position);
            split = new Split(split.number, split.position + 1);
            // Watermarks are emitted in between.
            Thread.sleep(20);
            return InputStatus.MORE_AVAILABLE;
        }

        @Override
        public List<Split> snapshotState(long checkpointId) {
            return split == null ? List.of() : List.of(split);
        }

        @Override
        public void notifyCheckpointComplete(long checkpointId) {
            if (split != null && split.number == 0 && split.position == ROWS) {
                CHECKPOINTS.incrementAndGet();
            }
        }

        @Override
        public CompletableFuture<Void> isAvailable() {
            return CompletableFuture.completedFuture(null);
        }

        @Override
        public void addSplits(List<Split> splits) {
            split = splits.get(0);
        }

        @Override
        public void notifyNoMoreSplits() {}

        @Override
        public void close() {}
    }
}
