// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Guarantees of every transport, checked from both ends. The ends are two instances in one process,
 * unless a subclass overrides that.
 */
@Timeout(60)
@ExtendWith(RegionLeakExtension.class)
public abstract class TransportConformance {

    protected static final int TARGET_BYTES = 1 << 16;

    protected Transport receiver;
    protected Transport sender;

    protected abstract Transport open() throws Exception;

    /** Returns the other end of an open transport. */
    protected Transport openPeer(Transport first) throws Exception {
        return open();
    }

    /** Writes words at an offset of the target, and returns once they have arrived. */
    protected abstract void write(byte[] descriptor, int offsetBytes, long... words)
            throws Exception;

    /** Connects to the target and disconnects. */
    protected abstract void reach(byte[] descriptor) throws Exception;

    @BeforeEach
    void openBoth() throws Exception {
        receiver = open();
        sender = openPeer(receiver);
    }

    @AfterEach
    void shouldCloseTwice() {
        for (int i = 0; i < 2; i++) {
            sender.close();
            receiver.close();
        }
    }

    @Test
    void shouldRegisterAZeroedTargetAlignedToACacheLine() throws Exception {
        Target target = receiver.registerTarget(TARGET_BYTES);
        assertThat(target.lengthBytes()).isEqualTo(TARGET_BYTES);
        assertThat(target.address() % Region.ALIGNMENT_BYTES).isZero();
        byte[] found = new byte[TARGET_BYTES];
        Memory.copy(null, target.address(), found, Memory.BYTES, found.length);
        assertThat(found).containsOnly(0);
    }

    @Test
    void shouldWriteOnlyTheAddressedBytes() throws Exception {
        try (Target first = receiver.registerTarget(TARGET_BYTES);
                Target second = receiver.registerTarget(TARGET_BYTES)) {
            write(second.descriptor(), 8, 1, 2, 3);
            assertThat(words(second, 0, 5)).containsExactly(0, 1, 2, 3, 0);
            write(first.descriptor(), TARGET_BYTES - 8, 4);
            assertThat(words(first, TARGET_BYTES - 16, 2)).containsExactly(0, 4);
            assertThat(words(first, 0, 5)).containsOnly(0);
        }
    }

    @Test
    void shouldNotReachAClosedTarget() throws Exception {
        Target target = receiver.registerTarget(TARGET_BYTES);
        byte[] descriptor = target.descriptor();
        target.close();
        target.close();
        assertThatExceptionOfType(TransportException.class).isThrownBy(() -> reach(descriptor));
    }

    @Test
    void shouldNeverReuseADescriptor() throws Exception {
        byte[] first;
        try (Target target = receiver.registerTarget(TARGET_BYTES)) {
            first = target.descriptor();
        }
        try (Target target = receiver.registerTarget(TARGET_BYTES)) {
            assertThat(target.descriptor()).isNotEqualTo(first);
        }
    }

    @Test
    void shouldRejectInvalidDescriptors() throws Exception {
        byte[] descriptor = receiver.registerTarget(TARGET_BYTES).descriptor();
        assertThat(descriptor.length).isBetween(1, Transport.MAX_DESCRIPTOR_BYTES);
        Random random = new Random(5);
        for (int lengthBytes = 0; lengthBytes <= Transport.MAX_DESCRIPTOR_BYTES; lengthBytes++) {
            byte[] noise = new byte[lengthBytes];
            random.nextBytes(noise);
            assertRefused(noise);
            if (lengthBytes != descriptor.length) {
                assertRefused(Arrays.copyOf(descriptor, lengthBytes));
            }
        }
    }

    private void assertRefused(byte[] descriptor) {
        assertThatExceptionOfType(TransportException.class)
                .as("%d bytes", descriptor.length)
                .isThrownBy(() -> reach(descriptor));
    }

    @ParameterizedTest(name = "{0} bytes")
    @ValueSource(longs = {-1, 0, (1L << 30) + 1})
    void shouldRejectLengthsOutOfRange(long lengthBytes) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> receiver.registerTarget(lengthBytes))
                .withMessage(
                        "Cannot register memory: lengthBytes="
                                + lengthBytes
                                + ". Use 1 byte to 1 GiB.");
    }

    @Test
    void shouldRejectRegistrationsAfterClose() {
        receiver.close();
        assertThatExceptionOfType(TransportException.class)
                .isThrownBy(() -> receiver.registerTarget(TARGET_BYTES))
                .withMessageContaining("The transport is closed");
    }

    protected static long[] words(RegisteredMemory memory, int offsetBytes, int count) {
        long[] words = new long[count];
        for (int i = 0; i < count; i++) {
            words[i] = Memory.getLongAcquire(null, memory.address() + offsetBytes + (long) i * 8);
        }
        return words;
    }
}
