// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.sql;

import io.github.gpujoin.benchmarks.flink.NoSplitSource;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.core.io.InputStatus;

/**
 * Sends the events of a {@link SqlRun}, each subtask those of its log. It is unbounded for the
 * planner, as the tables of a stream are, and ends nevertheless.
 */
final class EventSource extends NoSplitSource<LoggedRow> {

    private static final long serialVersionUID = 1L;

    private final int run;

    EventSource(int run) {
        this.run = run;
    }

    @Override
    public Boundedness getBoundedness() {
        return Boundedness.CONTINUOUS_UNBOUNDED;
    }

    @Override
    public SourceReader<LoggedRow, NoSplit> createReader(SourceReaderContext context) {
        SqlRun opened = SqlRun.of(run);
        return new Reader(opened, opened.log(context.getIndexOfSubtask()).cursor());
    }

    private static final class Reader implements SourceReader<LoggedRow, NoSplit> {

        /** Between two looks at the task's mailbox. */
        private static final int ROWS_PER_POLL = 64;

        private final SqlRun run;
        private final EventLog.Cursor events;

        Reader(SqlRun run, EventLog.Cursor events) {
            this.run = run;
            this.events = events;
        }

        @Override
        public void start() {
            run.start();
        }

        @Override
        public InputStatus pollNext(ReaderOutput<LoggedRow> output) {
            for (int i = 0; i < ROWS_PER_POLL && events.hasNext(); i++) {
                var row = events.next();
                output.collect(new LoggedRow(events.table(), row));
            }
            return events.hasNext() ? InputStatus.MORE_AVAILABLE : InputStatus.END_OF_INPUT;
        }

        @Override
        public CompletableFuture<Void> isAvailable() {
            return CompletableFuture.completedFuture(null);
        }

        @Override
        public List<NoSplit> snapshotState(long checkpointId) {
            return List.of();
        }

        @Override
        public void addSplits(List<NoSplit> splits) {
            throw new UnsupportedOperationException("Unexpected splits: splits=" + splits.size());
        }

        @Override
        public void notifyNoMoreSplits() {}

        @Override
        public void close() {}
    }
}
