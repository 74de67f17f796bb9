// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.BitSet;

/**
 * Which entries of a device's table of plans are in use, one for each engine, and the memory that
 * these plans share. Thread-safe, except for that memory.
 *
 * <p>An entry is reserved and freed while the kernel is stopped.
 */
final class PlanEntries implements AutoCloseable {

    static final int MAX_PLANS = 256;
    static final long LENGTH_BYTES = (long) MAX_PLANS * PlanDescriptor.PLAN_BYTES;

    private final long address;
    private final DecodingMemory decoding;
    private final BitSet reserved = new BitSet(MAX_PLANS);

    /**
     * @param address device memory of {@link #LENGTH_BYTES}
     * @param decoding closed with the last plan
     */
    PlanEntries(long address, DecodingMemory decoding) {
        this.address = address;
        this.decoding = decoding;
    }

    /**
     * Reserves an entry.
     *
     * @return its number
     * @throws GpuUnavailableException if none is free
     */
    synchronized int reserve() {
        int plan = reserved.nextClearBit(0);
        if (plan >= MAX_PLANS) {
            throw new GpuUnavailableException(
                    GpuFailure.OUT_OF_DEVICE_MEMORY,
                    "Too many engines on one device: engines=%d, maxEngines=%d. Lower the task slots of the process, or use another device."
                            .formatted(plan + 1, MAX_PLANS));
        }
        reserved.set(plan);
        return plan;
    }

    synchronized void free(int plan) {
        reserved.clear(plan);
        if (reserved.isEmpty()) {
            decoding.close();
        }
    }

    synchronized boolean isEmpty() {
        return reserved.isEmpty();
    }

    /** Returns the memory in which the kernel decodes facts under all plans. */
    DecodingMemory decoding() {
        return decoding;
    }

    /** Returns the address of the first entry in device memory. */
    long address() {
        return address;
    }

    /** Returns the address of an entry in device memory. */
    long address(int plan) {
        return address + (long) plan * PlanDescriptor.PLAN_BYTES;
    }

    /** Frees the memory of plans that were not freed, as on a lost device. */
    @Override
    public void close() {
        decoding.close();
    }
}
