package io.github.gpujoin.rdma.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.rdma.verbs.GpuMemory;
import io.github.gpujoin.rdma.verbs.GpuWriteVisibility;
import io.github.gpujoin.rdma.verbs.QueuePair;
import io.github.gpujoin.rdma.verbs.Registration;
import io.github.gpujoin.rdma.verbs.RemoteRights;
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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Targets in GPU memory, over a device that records; that bytes arrive is for bin/verify-rdma. */
class DisniTargetTest {

    private static final int LENGTH_BYTES = 1024;

    private final long openBefore = Region.openCount();
    private final List<String> done = new ArrayList<>();
    private final CopiedRings rings = new CopiedRings(256, done::add);
    private final RecordingDevice device = new RecordingDevice();

    @AfterEach
    void shouldGiveAllMemoryBack() {
        assertThat(Region.openCount()).isEqualTo(openBefore);
    }

    private GpuTargets gpu(GpuWriteVisibility visibility) {
        return new GpuTargets(GpuMemory.Way.DMA_BUF, visibility, rings);
    }

    @Test
    void shouldFlushBeforeEachLookWhereTheGpuDoesNotOrderWrites() throws IOException {
        try (DisniTarget target =
                DisniTarget.register(device, gpu(GpuWriteVisibility.HOST_FLUSHES), LENGTH_BYTES)) {
            target.view().at(0, 32);
            target.view().at(0, 256);
        }
        assertThat(done)
                .containsExactly(
                        "allocate", "register", "flush", "look", "flush", "look", "revoke", "free");
    }

    @Test
    void shouldNotFlushWhereTheGpuOrdersWrites() throws IOException {
        try (DisniTarget target =
                DisniTarget.register(device, gpu(GpuWriteVisibility.ORDERED), LENGTH_BYTES)) {
            Memory.putLong(target.address() + 512, 5);
            assertThat(Memory.getLong(target.view().at(512, 8))).isEqualTo(5);
        }
        assertThat(done).containsExactly("allocate", "register", "look", "revoke", "free");
    }

    @Test
    void shouldNotLookAtWhatCouldNotBeFlushed() throws IOException {
        device.failsAt = "flush";
        try (DisniTarget target =
                DisniTarget.register(device, gpu(GpuWriteVisibility.HOST_FLUSHES), LENGTH_BYTES)) {
            assertThatThrownBy(() -> target.view().at(0, 32))
                    .isInstanceOf(UncheckedIOException.class)
                    .hasMessageContaining("told to fail: flush");
        }
        assertThat(done).doesNotContain("look");
    }

    @ParameterizedTest
    @EnumSource(GpuMemory.Way.class)
    void shouldRegisterTheRingAloneForWrites(GpuMemory.Way way) throws IOException {
        GpuTargets gpu = new GpuTargets(way, GpuWriteVisibility.ORDERED, rings);
        try (DisniTarget target = DisniTarget.register(device, gpu, LENGTH_BYTES)) {
            assertThat(device.registered)
                    .isEqualTo(new GpuMemory(target.address(), LENGTH_BYTES, way));
            assertThat(device.rights).isEqualTo(RemoteRights.WRITE);
            assertThat(DisniDescriptor.decode(target.descriptor()))
                    .isEqualTo(
                            new DisniDescriptor(
                                    device.address, 22, target.address(), LENGTH_BYTES));
        }
    }

    @Test
    void shouldFreeTheRingWhereTheCardRefusesIt() {
        device.failsAt = "register";
        assertThatThrownBy(
                        () ->
                                DisniTarget.register(
                                        device, gpu(GpuWriteVisibility.ORDERED), LENGTH_BYTES))
                .hasMessage("told to fail: register");
        assertThat(done).containsExactly("allocate", "free");
    }

    @Test
    void shouldRevokeAndFreeTheRingWhereNobodyCanListen() {
        device.failsAt = "listen";
        assertThatThrownBy(
                        () ->
                                DisniTarget.register(
                                        device, gpu(GpuWriteVisibility.ORDERED), LENGTH_BYTES))
                .hasMessage("told to fail: listen");
        assertThat(done).containsExactly("allocate", "register", "revoke", "free");
    }

    @Test
    void shouldSayThatThereIsNoMemoryForARing() {
        assertThatThrownBy(() -> DisniTarget.register(device, Long.MAX_VALUE / 2))
                .isInstanceOf(TransportException.class)
                .hasMessage("disni needs memory for a ring: lengthBytes=4611686018427387903");
    }

    /** Whoever revokes a ring drives other sessions, too. */
    @Test
    @Timeout(30)
    void shouldNotWaitForItsListenerWhenItIsClosed() throws IOException {
        CountDownLatch waits = new CountDownLatch(1);
        CountDownLatch event = new CountDownLatch(1);
        device.accepting =
                () -> {
                    waits.countDown();
                    await(event);
                    return null;
                };
        GivenOut given = new GivenOut("disni");
        DisniTarget target =
                given.add(
                        DisniTarget.register(
                                device, gpu(GpuWriteVisibility.ORDERED), LENGTH_BYTES));
        await(waits);
        target.close();
        assertThat(done).as("the key and the memory").endsWith("revoke", "free");
        assertThat(target.isClosed()).as("its thread still waits").isFalse();
        assertThat(device.listenersOpen).hasValue(1);

        event.countDown();
        given.close();
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

    /** Not for ever, a warning each: a listener of a device that is gone fails at once. */
    @Test
    @Timeout(30)
    void shouldGiveUpAListenerThatAlwaysFails() throws IOException {
        AtomicInteger calls = new AtomicInteger();
        device.accepting =
                () -> {
                    calls.incrementAndGet();
                    throw new IOException("told to fail");
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
    void shouldGoOnAcceptingWhateverAPeerDoes() throws IOException {
        CountDownLatch accepted = new CountDownLatch(100);
        device.accepting =
                () -> {
                    accepted.countDown();
                    if (accepted.getCount() % 2 == 0) {
                        throw new IllegalStateException("told to fail");
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

    /** What a listener does when it is to accept. */
    @FunctionalInterface
    private interface Accepting {
        QueuePair accept() throws IOException;
    }

    /** Its calls stand with those of the rings. */
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
        private RemoteRights rights;

        private void failAt(String call) throws IOException {
            if (call.equals(failsAt)) {
                throw new IOException("told to fail: " + call);
            }
        }

        @Override
        public Registration register(GpuMemory memory, RemoteRights given) throws IOException {
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
        public VerbsListener listen(int port, int writesPosted) throws IOException {
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
        public Registration register(long of, long lengthBytes, RemoteRights given) {
            throw new AssertionError("a ring in GPU memory is registered as such");
        }

        @Override
        public QueuePair connect(InetSocketAddress peer, int writesPosted, Duration timeout) {
            throw new AssertionError("a target is connected to");
        }

        @Override
        public void close() {}
    }
}
