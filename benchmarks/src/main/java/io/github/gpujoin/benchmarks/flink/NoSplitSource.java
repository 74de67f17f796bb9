// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.flink;

import java.util.List;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceSplit;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.jspecify.annotations.Nullable;

/**
 * A source whose subtasks know their shares from their numbers, so that there are no splits to
 * assign. After a restore, a subtask sends all of its share again.
 */
public abstract class NoSplitSource<T> implements Source<T, NoSplitSource.NoSplit, Void> {

    private static final long serialVersionUID = 1L;

    /** Never made. */
    public abstract static class NoSplit implements SourceSplit {}

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
