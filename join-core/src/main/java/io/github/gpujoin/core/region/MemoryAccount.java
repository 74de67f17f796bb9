// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.region;

/**
 * Counts the off-heap memory of several owners against common limits. A region counts from its
 * allocation to its close, without alignment and the overhead of the operating system. Thread-safe.
 */
public final class MemoryAccount {

    private final String kind;
    private long usedBytes;
    private long peakBytes;

    /**
     * @param kind name of the memory in messages
     */
    public MemoryAccount(String kind) {
        this.kind = kind;
    }

    /**
     * Returns an allocator that allocates while all memory of this account stays within the limit.
     *
     * @param limitBytes 0 or more
     */
    public Allocator within(long limitBytes) {
        if (limitBytes < 0) {
            throw new IllegalArgumentException(
                    "Memory limit is negative: limitBytes=" + limitBytes);
        }
        return new Allocator() {
            @Override
            public Region allocate(long lengthBytes) {
                return allocateWithin(lengthBytes, limitBytes);
            }

            @Override
            public long availableBytes() {
                return Math.max(0, limitBytes - usedBytes());
            }

            @Override
            public long limitBytes() {
                return limitBytes;
            }
        };
    }

    /**
     * Returns an allocator that first reserves its memory, alignment included, and counts it here.
     */
    public Allocator within(MemoryReservations reservations) {
        return new Allocator() {
            @Override
            public Region allocate(long lengthBytes) {
                return allocateReserved(lengthBytes, reservations);
            }

            @Override
            public long availableBytes() {
                return reservations.availableBytes();
            }
        };
    }

    private Region allocateReserved(long lengthBytes, MemoryReservations reservations) {
        long reservedBytes = Region.allocatedBytes(lengthBytes);
        reservations.reserve(reservedBytes);
        Region region;
        try {
            region =
                    Region.allocate(
                            lengthBytes,
                            () -> {
                                release(lengthBytes);
                                reservations.release(reservedBytes);
                            });
        } catch (OutOfMemoryError e) {
            reservations.release(reservedBytes);
            throw new MemoryRefusedException(refusal(lengthBytes, Long.MAX_VALUE), e);
        }
        count(lengthBytes);
        return region;
    }

    public synchronized long usedBytes() {
        return usedBytes;
    }

    /** Returns the maximum of {@link #usedBytes()} so far. */
    public synchronized long peakBytes() {
        return peakBytes;
    }

    private synchronized Region allocateWithin(long lengthBytes, long limitBytes) {
        if (lengthBytes > limitBytes - usedBytes) {
            throw new MemoryRefusedException(refusal(lengthBytes, limitBytes), null);
        }
        Region region;
        try {
            region = Region.allocate(lengthBytes, () -> release(lengthBytes));
        } catch (OutOfMemoryError e) {
            throw new MemoryRefusedException(refusal(lengthBytes, limitBytes), e);
        }
        count(lengthBytes);
        return region;
    }

    private synchronized void count(long lengthBytes) {
        usedBytes += lengthBytes;
        peakBytes = Math.max(peakBytes, usedBytes);
    }

    private synchronized String refusal(long lengthBytes, long limitBytes) {
        return "Tables of the process exceed the "
                + kind
                + " memory budget or the machine's memory: budgetBytes="
                + limitBytes
                + ", usedBytes="
                + usedBytes
                + ", lengthBytes="
                + lengthBytes;
    }

    private synchronized void release(long lengthBytes) {
        usedBytes -= lengthBytes;
    }
}
