// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.symmetric;

import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.layout.Chunk;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.core.memory.ManagedMemoryUseCase;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.operators.testutils.MockEnvironmentBuilder;
import org.apache.flink.streaming.api.operators.Input;
import org.apache.flink.streaming.api.operators.StreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorFactory;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.streaming.util.AbstractStreamOperatorTestHarness;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;

/** One subtask of a symmetric join. */
final class SymmetricHarness extends AbstractStreamOperatorTestHarness<RowData> {

    private SymmetricHarness(StreamOperatorFactory<RowData> factory, MockEnvironment environment)
            throws Exception {
        super(factory, environment);
        environment
                .getJobConfiguration()
                .set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofSeconds(1));
        getStreamConfig()
                .setStateKeySerializer(
                        Types.INT.createSerializer(getExecutionConfig().getSerializerConfig()));
        getStreamConfig()
                .setManagedMemoryFractionOperatorOfUseCase(ManagedMemoryUseCase.OPERATOR, 1.0);
        getStreamConfig().serializeAllConfigs();
    }

    /** Creates a subtask with managed memory of some bytes, which is set up and not open. */
    static SymmetricHarness of(JoinShape shape, int parallelism, int subtask, long memoryBytes)
            throws Exception {
        SymmetricHarness harness =
                new SymmetricHarness(
                        shape.factory(),
                        new MockEnvironmentBuilder()
                                .setTaskName("join")
                                .setManagedMemorySize(memoryBytes)
                                .setMaxParallelism(JoinShape.PARTITIONS)
                                .setParallelism(parallelism)
                                .setSubtaskIndex(subtask)
                                .build());
        harness.setup(InternalTypeInfo.of(shape.resultType()).toSerializer());
        return harness;
    }

    /** Opens a subtask with empty state, or a restored one. */
    static SymmetricHarness open(
            JoinShape shape, int parallelism, int subtask, OperatorSubtaskState state)
            throws Exception {
        SymmetricHarness harness = of(shape, parallelism, subtask, 64 << 20);
        if (state != null) {
            harness.initializeState(state);
        }
        harness.open();
        return harness;
    }

    @SuppressWarnings("unchecked")
    private SymmetricJoinOperator<RowData> join() {
        return (SymmetricJoinOperator<RowData>) (StreamOperator<RowData>) operator;
    }

    @SuppressWarnings("unchecked")
    private Input<Chunk> input(int input) {
        return join().getInputs().get(input);
    }

    void accept(int input, Chunk chunk) throws Exception {
        input(input).processElement(new StreamRecord<>(chunk));
    }

    void accept(JoinSide side, Chunk chunk) throws Exception {
        accept(side.ordinal(), chunk);
    }

    void watermark(JoinSide side, long timestamp) throws Exception {
        input(side.ordinal()).processWatermark(new Watermark(timestamp));
    }

    void status(JoinSide side, WatermarkStatus status) throws Exception {
        input(side.ordinal()).processWatermarkStatus(status);
    }

    void finish() throws Exception {
        join().finish();
    }

    /** Runs the first mail. */
    void runMail() throws Exception {
        getTaskMailbox().take(0).run();
    }

    /** Runs the mails that are there, and those that they post. */
    void runMails() throws Exception {
        while (getTaskMailbox().hasMail()) {
            getTaskMailbox().take(0).run();
        }
    }

    OperatorSubtaskState checkpoint(long id) throws Exception {
        join().prepareSnapshotPreBarrier(id);
        return snapshot(id, id);
    }

    /** Returns and forgets the results so far. */
    List<RowData> takeResults() {
        List<RowData> results = new ArrayList<>(extractOutputValues());
        getOutput().clear();
        return results;
    }

    /** Ends the task as a cancellation does: closes without finishing. */
    @Override
    public void close() throws Exception {
        if (operator != null) {
            operator.close();
        }
        getEnvironment().close();
    }
}
