package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.region.Memory;
import java.lang.invoke.VarHandle;

/** The loads and stores by which the CPU and a running kernel hand memory to each other. */
final class OrderedMemory {

    private OrderedMemory() {}

    /** What this thread wrote before is visible to whoever sees {@code value}. */
    static void putLongRelease(long address, long value) {
        VarHandle.releaseFence();
        Memory.putLong(address, value);
    }

    /** What this thread wrote before is visible to whoever sees {@code value}. */
    static void putIntRelease(long address, int value) {
        VarHandle.releaseFence();
        Memory.putInt(address, value);
    }

    /** What this thread reads after is at least as new as the value seen. */
    static long getLongAcquire(long address) {
        long value = Memory.getLong(address);
        VarHandle.acquireFence();
        return value;
    }
}
