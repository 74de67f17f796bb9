// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.backpressure;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.runtime.io.network.buffer.Buffer;
import org.apache.flink.runtime.io.network.buffer.BufferBuilder;
import org.apache.flink.runtime.io.network.buffer.BufferPool;
import org.apache.flink.runtime.io.network.buffer.NetworkBufferPool;
import org.apache.flink.runtime.io.network.partition.ResultPartitionID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class OutputHoldTest {

    private static final int BUFFERS = 8;

    private final ResultPartitionID partition = new ResultPartitionID();
    private final AtomicLong announced = new AtomicLong(-1);
    private final NetworkBufferPool network = new NetworkBufferPool(2 * BUFFERS, 1024);
    private BufferPool pool;
    private OutputHold sender;
    private InputHold receiver;

    @BeforeEach
    void open() throws Exception {
        pool = network.createBufferPool(BUFFERS, BUFFERS);
        pool.setMaxOverdraftBuffersPerGate(0);
        receiver = new InputHold(List.of(partition), announced::get);
        sender = OutputHold.of(partition);
    }

    @AfterEach
    void requireAllBuffersRecycled() throws Exception {
        receiver.close();
        sender.close();
        pool.lazyDestroy();
        assertThat(network.getNumberOfAvailableMemorySegments()).isEqualTo(2 * BUFFERS);
        assertThat(OutputHold.openCount()).isZero();
        network.destroyAllBufferPools();
        network.destroy();
    }

    @Test
    void shouldPauseTheSenderWhileTheReceiverIsFull() {
        sender.endEmission(pool);
        assertThat(pool.isAvailable()).isTrue();
        receiver.update(true);
        sender.endEmission(pool);
        assertThat(pool.isAvailable()).isFalse();
        receiver.update(false);
        assertThat(pool.isAvailable()).isTrue();
    }

    /** Otherwise the receiver would write one element more to its state at each barrier. */
    @Test
    void shouldStayPausedWhenTheReceiverHasReadABuffer() {
        Buffer first = pool.requestBuffer();
        Buffer second = pool.requestBuffer();
        receiver.update(true);
        sender.endEmission(pool);
        first.recycleBuffer();
        second.recycleBuffer();
        assertThat(pool.isAvailable()).isFalse();
        receiver.update(false);
        assertThat(pool.isAvailable()).isTrue();
    }

    @Test
    void shouldLetTheSenderReadUpToTheBarrierThatTheReceiverAwaits() {
        receiver.update(true);
        sender.endEmission(pool);
        announced.set(7);
        receiver.update(true);
        sender.endEmission(pool);
        assertThat(pool.isAvailable()).isTrue();
        sender.passed(7);
        sender.endEmission(pool);
        assertThat(pool.isAvailable()).isFalse();
    }

    @Test
    void shouldPauseTheSenderUntilTheLastFullReceiverHasRoom() throws Exception {
        try (InputHold other = new InputHold(List.of(partition), announced::get)) {
            receiver.update(true);
            other.update(true);
            sender.endEmission(pool);
            receiver.update(false);
            assertThat(pool.isAvailable()).isFalse();
            other.update(false);
            assertThat(pool.isAvailable()).isTrue();
        }
    }

    /** A buffer that returned to the pool would let the sender process another element. */
    @Test
    void shouldEmitInOverdraftBuffersWhileTheSenderIsPaused() {
        receiver.update(true);
        sender.endEmission(pool);
        CompletableFuture<?> available = pool.getAvailableFuture();
        sender.beginEmission(pool);
        List<Buffer> emitted = new ArrayList<>();
        for (int i = 0; i < BUFFERS; i++) {
            emitted.add(pool.requestBuffer());
        }
        assertThat(emitted).doesNotContainNull();
        emitted.forEach(Buffer::recycleBuffer);
        sender.endEmission(pool);
        assertThat(available).isNotDone();
        assertThat(pool.isAvailable()).isFalse();
        assertThat(pool.getMaxOverdraftBuffersPerGate()).isZero();
    }

    @Test
    @Timeout(30)
    void shouldRecycleBuffersForAnEmissionThatWaitsForOne() throws Exception {
        receiver.update(true);
        sender.endEmission(pool);
        sender.beginEmission(pool);
        List<Buffer> emitted = new ArrayList<>();
        for (int i = 0; i < BUFFERS; i++) {
            emitted.add(pool.requestBuffer());
        }
        assertThat(pool.requestBuffer()).isNull();
        while (!pool.isAvailable()) {
            receiver.update(true);
            emitted.stream().limit(1).forEach(Buffer::recycleBuffer);
            emitted.subList(0, Math.min(1, emitted.size())).clear();
        }
        emitted.forEach(Buffer::recycleBuffer);
        sender.endEmission(pool);
        assertThat(pool.isAvailable()).isFalse();
    }

    /** Such a pool has free buffers and is unavailable, so a busy wait would block the receiver. */
    @Test
    @Timeout(30)
    void shouldPauseTheSenderWhileOneChannelHasReachedItsLimit() throws Exception {
        pool.lazyDestroy();
        pool = network.createBufferPool(BUFFERS, BUFFERS, 2, BUFFERS / 2, 0);
        List<BufferBuilder> channel = new ArrayList<>();
        for (int i = 0; i < BUFFERS / 2; i++) {
            channel.add(pool.requestBufferBuilder(0));
        }
        assertThat(pool.isAvailable()).isFalse();
        receiver.update(true);
        sender.endEmission(pool);
        channel.forEach(BufferBuilder::close);
        assertThat(pool.isAvailable()).isFalse();
        receiver.update(false);
        assertThat(pool.isAvailable()).isTrue();
    }
}
