// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.backpressure;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.flink.runtime.io.network.buffer.NetworkBufferPool;
import org.apache.flink.runtime.io.network.partition.NoOpBufferAvailablityListener;
import org.apache.flink.runtime.io.network.partition.PipelinedResultPartition;
import org.apache.flink.runtime.io.network.partition.ResultPartitionBuilder;
import org.apache.flink.runtime.io.network.partition.ResultPartitionType;
import org.apache.flink.runtime.io.network.partition.ResultSubpartitionIndexSet;
import org.apache.flink.runtime.io.network.partition.ResultSubpartitionView;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.operators.testutils.MockEnvironmentBuilder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class OutputRoomTest {

    private static final int BUFFERS = 64;
    private static final int BUFFER_BYTES = 1024;
    private static final int RECEIVERS = 2;

    /** Bound of an output that has sent no buffer so far. */
    private static final int SLOW = RECEIVERS + 1;

    private static final long WINDOW_NS = TimeUnit.MILLISECONDS.toNanos(500);

    private final NetworkBufferPool network = new NetworkBufferPool(BUFFERS, BUFFER_BYTES);
    private final MockEnvironment task = new MockEnvironmentBuilder().build();
    private final List<ResultSubpartitionView> views = new ArrayList<>();
    private PipelinedResultPartition partition;
    private OutputRoom room;
    private long startNs;

    @BeforeEach
    void open() throws Exception {
        partition =
                (PipelinedResultPartition)
                        new ResultPartitionBuilder()
                                .setResultPartitionType(ResultPartitionType.PIPELINED_BOUNDED)
                                .setNumberOfSubpartitions(RECEIVERS)
                                .setBufferPoolFactory(
                                        () ->
                                                network.createBufferPool(
                                                        RECEIVERS + 1,
                                                        BUFFERS,
                                                        RECEIVERS,
                                                        BUFFERS,
                                                        0))
                                .build();
        partition.setup();
        partition.setMetricGroup(task.getMetricGroup().getIOMetricGroup());
        for (int receiver = 0; receiver < RECEIVERS; receiver++) {
            views.add(
                    partition.createSubpartitionView(
                            new ResultSubpartitionIndexSet(receiver),
                            new NoOpBufferAvailablityListener()));
        }
        task.addOutputs(List.of(partition));
        room = new OutputRoom(task);
        startNs = System.nanoTime();
    }

    @AfterEach
    void close() throws Exception {
        for (ResultSubpartitionView view : views) {
            view.releaseAllResources();
        }
        partition.release();
        partition.close();
        task.close();
        assertThat(network.getNumberOfAvailableMemorySegments()).isEqualTo(BUFFERS);
        network.destroyAllBufferPools();
        network.destroy();
    }

    private void emit(int buffers) throws Exception {
        for (int i = 0; i < buffers; i++) {
            partition.emitRecord(ByteBuffer.wrap(new byte[BUFFER_BYTES]), 0);
        }
    }

    private void read(int buffers) throws Exception {
        for (int i = 0; i < buffers; i++) {
            views.get(0).getNextBuffer().buffer().recycleBuffer();
        }
    }

    @Test
    void shouldLimitTheBuffersOfASlowOutput() throws Exception {
        emit(SLOW);
        assertThat(room.hasRoom(startNs)).isTrue();
        emit(1);
        assertThat(room.hasRoom(startNs)).isFalse();
        assertThat(room.isAvailable()).isTrue();
        read(1);
        assertThat(room.hasRoom(startNs)).isTrue();
    }

    @Test
    void shouldAllowTheBuffersThatAFastOutputReadsInTheTargetTime() throws Exception {
        emit(50);
        read(50);
        // 50 buffers in 500 ms are 20 in 200 ms.
        assertThat(room.hasRoom(startNs + WINDOW_NS)).isTrue();
        emit(SLOW + 19);
        assertThat(room.hasRoom(startNs + WINDOW_NS)).isTrue();
        emit(2);
        assertThat(room.hasRoom(startNs + WINDOW_NS)).isFalse();
    }

    @Test
    void shouldLowerTheLimitOnceAFastOutputIsSlow() throws Exception {
        emit(50);
        read(50);
        assertThat(room.hasRoom(startNs + WINDOW_NS)).isTrue();
        emit(SLOW + 1);
        assertThat(room.hasRoom(startNs + WINDOW_NS)).isTrue();
        // 4 buffers in the last window of 500 ms are 1 in 200 ms.
        read(SLOW + 1);
        assertThat(room.hasRoom(startNs + 2 * WINDOW_NS)).isTrue();
        assertThat(room.hasRoom(startNs + 3 * WINDOW_NS)).isTrue();
        emit(SLOW + 1);
        assertThat(room.hasRoom(startNs + 3 * WINDOW_NS)).isFalse();
        read(SLOW + 1);
    }

    @Test
    void shouldAlwaysHaveRoomWithoutAnOutputOfTheTask() throws Exception {
        try (MockEnvironment sink = new MockEnvironmentBuilder().build()) {
            assertThat(new OutputRoom(sink).hasRoom()).isTrue();
        }
    }
}
