// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.bulk;

import io.github.gpujoin.core.bulk.BulkJoin;
import io.github.gpujoin.core.bulk.BulkJoinState;
import io.github.gpujoin.core.bulk.BulkResult;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.api.data.JoinedChunkWriter;
import io.github.gpujoin.flink.engine.BulkJoinOpener;
import io.github.gpujoin.flink.pack.ExecutionMode;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.BoundedMultiInput;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.api.operators.TwoInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.IOUtils;

/**
 * Joins chunks of a left side (input 1) and a right side (input 2) in batch mode, and passes chunks
 * of results to a writer. Emits the count of result rows at the end.
 *
 * <p>The operator has no state. If its task fails, another attempt reads both inputs again, with a
 * writer of its own.
 *
 * <p>Runs in the task's mailbox thread. Cancellation interrupts the thread, which ends each wait.
 */
final class ChunkJoinOperator extends AbstractStreamOperator<Long>
        implements TwoInputStreamOperator<Chunk, Chunk, Long>, BoundedMultiInput {

    private static final long serialVersionUID = 1L;

    private static final long POLL_NS = TimeUnit.MILLISECONDS.toNanos(10);

    private final ChunkJoinSettings settings;
    private final transient Set<JoinSide> ended = EnumSet.noneOf(JoinSide.class);

    /** Null unless open, as the writer is. */
    private transient BulkJoinOpener.Opened opened;

    private transient BulkJoinMetrics joinMetrics;

    private transient JoinedChunkWriter writer;

    private transient ChunkInputs inputs;

    ChunkJoinOperator(StreamOperatorParameters<Long> parameters, ChunkJoinSettings settings) {
        super(parameters);
        this.settings = settings;
    }

    @Override
    public void open() throws Exception {
        super.open();
        Environment task = getContainingTask().getEnvironment();
        ExecutionMode.requireBatchAtStart(task);
        opened =
                settings.joins()
                        .open(settings.spec(), task, getOperatorConfig(), getRuntimeContext());
        writer =
                settings.writers()
                        .create(task.getTaskInfo().getAttemptNumber(), settings.threads());
        inputs = ChunkInputs.open(getOperatorConfig(), task, getUserCodeClassloader());
        joinMetrics =
                new BulkJoinMetrics(getMetricGroup(), settings.metrics(), settings.spec(), opened);
    }

    @Override
    public void processElement1(StreamRecord<Chunk> element) throws Exception {
        submit(JoinSide.LEFT, element.getValue());
    }

    @Override
    public void processElement2(StreamRecord<Chunk> element) throws Exception {
        submit(JoinSide.RIGHT, element.getValue());
    }

    private void submit(JoinSide side, Chunk arrived) throws InterruptedException {
        Chunk chunk = inputs.received(side, arrived);
        joinMetrics.received(side, chunk);
        try {
            opened.join().submit(side, chunk);
        } finally {
            chunk.release();
        }
    }

    @Override
    public void endInput(int inputId) throws Exception {
        ended.add(ChunkInputs.side(inputId));
        if (ended.size() == JoinSide.values().length
                && opened.join().state() == BulkJoinState.LOADING) {
            opened.finish();
            output.collect(new StreamRecord<>(writeResults(opened.join())));
        }
    }

    /** Returns the count of result rows. */
    private long writeResults(BulkJoin join) throws Exception {
        long rowCount = 0;
        while (join.state() != BulkJoinState.DONE) {
            BulkResult result = join.poll(POLL_NS);
            if (result instanceof BulkResult.Rows rows) {
                rowCount += rows.chunk().rowCount();
                writer.write(
                        rows.chunk(),
                        rows.sides().contains(JoinSide.LEFT),
                        rows.sides().contains(JoinSide.RIGHT));
            }
        }
        writer.finish();
        return rowCount;
    }

    @Override
    public void close() throws Exception {
        IOUtils.closeAll(inputs, opened, writer, super::close);
    }
}
