// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.flink.exchange.LoadMark;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.runtime.event.WatermarkEvent;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.operators.testutils.MockEnvironmentBuilder;
import org.apache.flink.streaming.api.operators.StreamOperatorFactory;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.LatencyMarker;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.streaming.util.AbstractStreamOperatorTestHarness;

/** One subtask of the join operator under test, whose results are strings. */
public final class JoinHarness extends AbstractStreamOperatorTestHarness<String> {

    private boolean awaitsTables = true;

    /** A mark is read by its header alone. */
    private static final ChunkSchema MARK = ChunkSchema.of(Column.of("key", ColumnType.INT64));

    public JoinHarness(
            StreamOperatorFactory<String> factory,
            int maxParallelism,
            int parallelism,
            int subtaskIndex)
            throws Exception {
        this(factory, environment(maxParallelism, parallelism, subtaskIndex).build());
    }

    JoinHarness(StreamOperatorFactory<String> factory, MockEnvironment environment)
            throws Exception {
        super(factory, environment);
        environment
                .getJobConfiguration()
                .set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofSeconds(1));
        getStreamConfig()
                .setStateKeySerializer(
                        Types.INT.createSerializer(getExecutionConfig().getSerializerConfig()));
        getStreamConfig().serializeAllConfigs();
        setup(StringSerializer.INSTANCE);
    }

    static MockEnvironmentBuilder environment(
            int maxParallelism, int parallelism, int subtaskIndex) {
        return new MockEnvironmentBuilder()
                .setTaskName("join")
                .setManagedMemorySize(3 << 20)
                .setMaxParallelism(maxParallelism)
                .setParallelism(parallelism)
                .setSubtaskIndex(subtaskIndex);
    }

    @SuppressWarnings("unchecked")
    private StarJoinOperator<String> join() {
        return (StarJoinOperator<String>) getOperator();
    }

    public void build(Chunk chunk) throws Exception {
        join().setKeyContextElement1(new StreamRecord<>(chunk));
        join().processElement1(new StreamRecord<>(chunk));
    }

    public void probe(Chunk chunk) throws Exception {
        awaitTables();
        join().setKeyContextElement2(new StreamRecord<>(chunk));
        join().processElement2(new StreamRecord<>(chunk));
    }

    void buildWatermark(long timestamp) throws Exception {
        join().processWatermark1(new Watermark(timestamp));
        awaitTables();
    }

    /** Tells that the first dimension is complete; it has one source subtask. */
    void completeBuild() throws Exception {
        mark(new LoadMark(0, ChunkDescriptor.UNPARTITIONED, 0, 1, LoadMark.Status.COMPLETE));
    }

    void mark(LoadMark mark) throws Exception {
        build(mark.toChunk(MARK));
    }

    void probeWatermark(long timestamp) throws Exception {
        join().processWatermark2(new Watermark(timestamp));
    }

    void probeMarker(LatencyMarker marker) throws Exception {
        join().processLatencyMarker2(marker);
    }

    void probeWatermark(WatermarkEvent mark) throws Exception {
        join().processWatermark2(mark);
    }

    void probeStatus(WatermarkStatus status) throws Exception {
        join().processWatermarkStatus2(status);
    }

    public void endBuild() throws Exception {
        join().endInput(1);
        awaitTables();
    }

    public void endProbe() throws Exception {
        awaitTables();
        join().endInput(2);
    }

    /** Tells that a checkpoint has begun, as the JobMaster does. */
    void announceCheckpoint(long checkpointId) {
        join().checkpoints().begun(checkpointId);
    }

    void barrier(long checkpointId) throws Exception {
        awaitTables();
        join().prepareSnapshotPreBarrier(checkpointId);
    }

    public void finish() throws Exception {
        join().finish();
    }

    /** Cancels the task, as Flink does on a failover. */
    void cancel() throws Exception {
        mockTask.cancel();
    }

    /** Has nothing wait for tables from now on. */
    void leaveTablesToMails() {
        awaitsTables = false;
    }

    boolean isBuilding() {
        return join().isBuilding();
    }

    /** Runs the mails that a busy machine leaves of the build of small tables. */
    private void awaitTables() throws Exception {
        while (awaitsTables && isBuilding()) {
            getTaskMailbox().take(0).run();
        }
    }

    /** Runs the mails that are there, and those that they post, up to a number. */
    void runMails(int atMost) throws Exception {
        for (int i = 0; i < atMost && getTaskMailbox().hasMail(); i++) {
            getTaskMailbox().take(0).run();
        }
    }

    /** Ends the task as a cancellation does: closes without finishing. */
    @Override
    public void close() throws Exception {
        if (getOperator() != null) {
            getOperator().close();
        }
        getEnvironment().close();
    }

    /** Results so far, without watermarks. */
    public List<String> results() {
        return new ArrayList<>(extractOutputValues());
    }
}
