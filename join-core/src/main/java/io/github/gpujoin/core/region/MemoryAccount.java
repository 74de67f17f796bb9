package io.github.gpujoin.core.region;

/**
 * Keeps account of off-heap memory that several owners take together. A region counts from its
 * allocation to its close, without alignment and the operating system's own overhead. Thread-safe.
 */
public final class MemoryAccount {

    private final String kind;
    private long usedBytes;
    private long peakBytes;

    /**
     * @param kind for messages
     */
    public MemoryAccount(String kind) {
        this.kind = kind;
    }

    /**
     * Gives memory as long as all that is taken through this account stays within the limit.
     *
     * @param limitBytes not negative
     */
    public Allocator within(long limitBytes) {
        if (limitBytes < 0) {
            throw new IllegalArgumentException(
                    "a memory limit is not negative: limitBytes=" + limitBytes);
        }
        return new Allocator() {
            @Override
            public Region allocate(long lengthBytes) {
                return take(lengthBytes, limitBytes);
            }

            @Override
            public long availableBytes() {
                return Math.max(0, limitBytes - usedBytes());
            }
        };
    }

    /** Gives memory that is reserved elsewhere first, alignment included, and counts it here. */
    public Allocator within(MemoryReservations reservations) {
        return new Allocator() {
            @Override
            public Region allocate(long lengthBytes) {
                return take(lengthBytes, reservations);
            }

            @Override
            public long availableBytes() {
                return reservations.availableBytes();
            }
        };
    }

    private Region take(long lengthBytes, MemoryReservations reservations) {
        long reservedBytes = lengthBytes + Region.ALIGNMENT_BYTES;
        reservations.reserve(reservedBytes);
        Region region;
        try {
            region =
                    Region.allocate(
                            lengthBytes,
                            () -> {
                                giveBack(lengthBytes);
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

    /** The most that was ever taken at once. */
    public synchronized long peakBytes() {
        return peakBytes;
    }

    private synchronized Region take(long lengthBytes, long limitBytes) {
        if (lengthBytes > limitBytes - usedBytes) {
            throw new MemoryRefusedException(refusal(lengthBytes, limitBytes), null);
        }
        Region region;
        try {
            region = Region.allocate(lengthBytes, () -> giveBack(lengthBytes));
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
        return "all tables of a process keep within the "
                + kind
                + " memory budget and the machine's memory: budgetBytes="
                + limitBytes
                + ", usedBytes="
                + usedBytes
                + ", lengthBytes="
                + lengthBytes;
    }

    private synchronized void giveBack(long lengthBytes) {
        usedBytes -= lengthBytes;
    }
}
