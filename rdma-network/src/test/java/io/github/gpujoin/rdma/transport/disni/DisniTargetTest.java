// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.transport.disni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.rdma.transport.OwnedResources;
import io.github.gpujoin.rdma.transport.TransportException;
import io.github.gpujoin.rdma.transport.disni.testing.CopiedRings;
import io.github.gpujoin.rdma.verbs.GpuMemory;
import io.github.gpujoin.rdma.verbs.GpuWriteVisibility;
import io.github.gpujoin.rdma.verbs.QueuePair;
import io.github.gpujoin.rdma.verbs.Registration;
import io.github.gpujoin.rdma.verbs.RemoteAccess;
import io.github.gpujoin.rdma.verbs.VerbsDevice;
import io.github.gpujoin.rdma.verbs.VerbsListener;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Targets in GPU memory on a recording device. bin/verify-rdma checks that bytes arrive. */
@ExtendWith(RegionLeakExtension.class)
class DisniTargetTest {

    private static final int LENGTH_BYTES = 1024;

    private final List<String> done = new ArrayList<>();
    private final CopiedRings rings = new CopiedRings(256, done::add);
    private final RecordingDevice device = new RecordingDevice();

    private GpuTargets gpu(GpuWriteVisibility visibility) {
        return new GpuTargets(GpuMemory.RegistrationMethod.DMA_BUF, visibility, rings);
    }

    @Test
    void shouldFlushBeforeEachReadIfTheGpuDoesNotOrderWrites() throws IOException {
        try (DisniTarget target =
                DisniTarget.register(device, gpu(GpuWriteVisibility.HOST_FLUSHES), LENGTH_BYTES)) {
            target.view().at(0, 32);
            target.view().at(0, 256);
        }
        assertThat(done)
                .containsExactly(
                        "allocate", "register", "flush", "read", "flush", "read", "revoke", "free");
    }

    @Test
    void shouldNotFlushIfTheGpuOrdersWrites() throws IOException {
        try (DisniTarget target =
                DisniTarget.register(device, gpu(GpuWriteVisibility.ORDERED), LENGTH_BYTES)) {
            Memory.putLong(target.address() + 512, 5);
            assertThat(Memory.getLong(target.view().at(512, 8))).isEqualTo(5);
        }
        assertThat(done).containsExactly("allocate", "register", "read", "revoke", "free");
    }

    @Test
    void shouldNotReadAfterAFailedFlush() throws IOException {
        device.failsAt = "flush";
        try (DisniTarget target =
                DisniTarget.register(device, gpu(GpuWriteVisibility.HOST_FLUSHES), LENGTH_BYTES)) {
            assertThatThrownBy(() -> target.view().at(0, 32))
                    .isInstanceOf(UncheckedIOException.class)
                    .hasMessageContaining("injected failure: flush");
        }
        assertThat(done).doesNotContain("read");
    }

    @ParameterizedTest
    @EnumSource(GpuMemory.RegistrationMethod.class)
    void shouldRegisterTheRingForRemoteWrites(GpuMemory.RegistrationMethod method)
            throws IOException {
        GpuTargets gpu = new GpuTargets(method, GpuWriteVisibility.ORDERED, rings);
        try (DisniTarget target = DisniTarget.register(device, gpu, LENGTH_BYTES)) {
            assertThat(device.registered)
                    .isEqualTo(new GpuMemory(target.address(), LENGTH_BYTES, method));
            assertThat(device.rights).isEqualTo(RemoteAccess.WRITE);
            assertThat(DisniDescriptor.decode(target.descriptor()))
                    .isEqualTo(
                            new DisniDescriptor(
                                    device.address, 22, target.address(), LENGTH_BYTES));
        }
    }

    @Test
    void shouldFreeTheRingIfTheAdapterRejectsIt() {
        device.failsAt = "register";
        assertThatThrownBy(
                        () ->
                                DisniTarget.register(
                                        device, gpu(GpuWriteVisibility.ORDERED), LENGTH_BYTES))
                .hasMessage("injected failure: register");
        assertThat(done).containsExactly("allocate", "free");
    }

    @Test
    void shouldRevokeAndFreeTheRingIfListeningFails() {
        device.failsAt = "listen";
        assertThatThrownBy(
                        () ->
                                DisniTarget.register(
                                        device, gpu(GpuWriteVisibility.ORDERED), LENGTH_BYTES))
                .hasMessage("injected failure: listen");
        assertThat(done).containsExactly("allocate", "register", "revoke", "free");
    }

    @Test
    void shouldReportMissingMemoryForARing() {
        assertThatThrownBy(() -> DisniTarget.register(device, Long.MAX_VALUE / 2))
                .isInstanceOf(TransportException.class)
                .hasMessage(
                        "Cannot allocate memory for a ring: transport=disni, lengthBytes=4611686018427387903");
    }

    /** The thread that revokes a ring drives other sessions as well. */
    @Test
    @Timeout(30)
    void shouldNotWaitForItsListenerOnClose() throws IOException {
        CountDownLatch waits = new CountDownLatch(1);
        CountDownLatch event = new CountDownLatch(1);
        device.accepting =
                () -> {
                    waits.countDown();
                    await(event);
                    return null;
                };
        OwnedResources resources = new OwnedResources("disni");
        DisniTarget target =
                resources.add(
                        DisniTarget.register(
                                device, gpu(GpuWriteVisibility.ORDERED), LENGTH_BYTES));
        await(waits);
        target.close();
        assertThat(done).as("the key and the memory").endsWith("revoke", "free");
        assertThat(target.isClosed()).as("its thread still waits").isFalse();
        assertThat(device.listenersOpen).hasValue(1);

        event.countDown();
        resources.close();
        assertThat(target.isClosed()).isTrue();
        assertThat(device.listenersOpen).as("before the device is closed").hasValue(0);
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** The listener of a removed device fails immediately each time, with a warning in the log. */
    @Test
    @Timeout(30)
    void shouldStopAcceptingIfTheListenerKeepsFailing() throws IOException {
        AtomicInteger calls = new AtomicInteger();
        device.accepting =
                () -> {
                    calls.incrementAndGet();
                    throw new IOException("injected failure");
                };
        DisniTarget target =
                DisniTarget.register(device, gpu(GpuWriteVisibility.ORDERED), LENGTH_BYTES);
        target.awaitEnd();
        assertThat(calls).hasValue(16);
        assertThat(device.listenersOpen).hasValue(0);
        target.close();
        assertThat(target.isClosed()).isTrue();
    }

    @Test
    @Timeout(30)
    void shouldContinueToAcceptAfterAFailureOfAPeer() throws IOException {
        CountDownLatch accepted = new CountDownLatch(100);
        device.accepting =
                () -> {
                    accepted.countDown();
                    if (accepted.getCount() % 2 == 0) {
                        throw new IllegalStateException("injected failure");
                    }
                    return null;
                };
        DisniTarget target =
                DisniTarget.register(device, gpu(GpuWriteVisibility.ORDERED), LENGTH_BYTES);
        await(accepted);
        target.close();
        target.awaitEnd();
        assertThat(device.listenersOpen).hasValue(0);
    }

    /** Behaviour of a listener that should accept. */
    @FunctionalInterface
    private interface Accepting {
        QueuePair accept() throws IOException;
    }

    /** Records its calls with those of the rings. */
    private final class RecordingDevice implements VerbsDevice {

        private final InetSocketAddress address = new InetSocketAddress("127.0.0.1", 4000);
        private final AtomicInteger listenersOpen = new AtomicInteger();
        private String failsAt = "";
        private Accepting accepting =
                () -> {
                    LockSupport.parkNanos(1_000_000);
                    return null;
                };
        private GpuMemory registered;
        private RemoteAccess rights;

        private void failAt(String call) throws IOException {
            if (call.equals(failsAt)) {
                throw new IOException("injected failure: " + call);
            }
        }

        @Override
        public Registration register(GpuMemory memory, RemoteAccess given) throws IOException {
            failAt("register");
            done.add("register");
            registered = memory;
            rights = given;
            return new Registration() {
                @Override
                public long address() {
                    return memory.address();
                }

                @Override
                public long lengthBytes() {
                    return memory.lengthBytes();
                }

                @Override
                public int localKey() {
                    return 11;
                }

                @Override
                public int remoteKey() {
                    return 22;
                }

                @Override
                public void close() {
                    done.add("revoke");
                }
            };
        }

        @Override
        public void flushGpuWrites(long flushed) throws IOException {
            failAt("flush");
            assertThat(flushed).isEqualTo(registered.address());
            done.add("flush");
        }

        @Override
        public VerbsListener listen(int port, int queueDepth) throws IOException {
            failAt("listen");
            listenersOpen.incrementAndGet();
            return new VerbsListener() {
                @Override
                public InetSocketAddress address() {
                    return address;
                }

                @Override
                public QueuePair accept(Duration timeout) throws IOException {
                    return accepting.accept();
                }

                @Override
                public void close() {
                    listenersOpen.decrementAndGet();
                }
            };
        }

        @Override
        public Registration register(long of, long lengthBytes, RemoteAccess given) {
            throw new AssertionError("unexpected registration of host memory");
        }

        @Override
        public QueuePair connect(InetSocketAddress peer, int queueDepth, Duration timeout) {
            throw new AssertionError("unexpected connect");
        }

        @Override
        public void close() {}
    }
}
