// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.flink;

import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;

/** Sends one side of a {@link FlinkRun}, each subtask every n-th chunk. */
public final class TupleSource<T> extends NoSplitSource<T> {

    private static final long serialVersionUID = 1L;

    /** Which relation a source sends. */
    public enum Side {
        BUILD,
        PROBE
    }

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
}
