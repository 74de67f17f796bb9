// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.flink;

import java.util.List;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SourceSplit;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.jspecify.annotations.Nullable;

/**
 * Sends one side of a {@link FlinkRun}, each subtask every n-th chunk. A subtask knows its share
 * from its number, so there are no splits to assign, and after a restore it sends all of it again.
 */
public final class TupleSource<T> implements Source<T, TupleSource.NoSplit, Void> {

    private static final long serialVersionUID = 1L;

    /** Which relation a source sends. */
    public enum Side {
        BUILD,
        PROBE
    }

    /** Never made. */
    abstract static class NoSplit implements SourceSplit {}

    private final int run;
    private final Side side;
    private final boolean endless;
    private final RecordCutter<T> cutter;

    TupleSource(FlinkRun run, Side side, RecordCutter<T> cutter) {
        this.run = run.id();
        this.side = side;
        this.endless = side == Side.PROBE && run.isEndless();
        this.cutter = cutter;
    }

    @Override
    public Boundedness getBoundedness() {
        return endless ? Boundedness.CONTINUOUS_UNBOUNDED : Boundedness.BOUNDED;
    }

    @Override
    public SourceReader<T, NoSplit> createReader(SourceReaderContext context) {
        FlinkRun opened = FlinkRun.of(run);
        int subtask = context.getIndexOfSubtask();
        return switch (side) {
            case BUILD -> TupleReader.build(opened, subtask, cutter);
            case PROBE -> TupleReader.probe(opened, subtask, cutter);
        };
    }

    @Override
    public SplitEnumerator<NoSplit, Void> createEnumerator(SplitEnumeratorContext<NoSplit> c) {
        return new NoEnumerator();
    }

    @Override
    public SplitEnumerator<NoSplit, Void> restoreEnumerator(
            SplitEnumeratorContext<NoSplit> context, Void checkpoint) {
        return new NoEnumerator();
    }

    @Override
    public SimpleVersionedSerializer<NoSplit> getSplitSerializer() {
        return new NothingSerializer<>();
    }

    @Override
    public SimpleVersionedSerializer<Void> getEnumeratorCheckpointSerializer() {
        return new NothingSerializer<>();
    }

    /** Assigns nothing. */
    private static final class NoEnumerator implements SplitEnumerator<NoSplit, Void> {

        @Override
        public void start() {}

        @Override
        public void handleSplitRequest(int subtask, String hostname) {}

        @Override
        public void addSplitsBack(List<NoSplit> splits, int subtask) {}

        @Override
        public void addReader(int subtask) {}

        @Override
        public @Nullable Void snapshotState(long checkpointId) {
            return null;
        }

        @Override
        public void close() {}
    }

    /** Serialises what has no instances, or null. */
    private static final class NothingSerializer<E> implements SimpleVersionedSerializer<E> {

        @Override
        public int getVersion() {
            return 1;
        }

        @Override
        public byte[] serialize(E nothing) {
            return new byte[0];
        }

        @Override
        public @Nullable E deserialize(int version, byte[] bytes) {
            return null;
        }
    }
}
