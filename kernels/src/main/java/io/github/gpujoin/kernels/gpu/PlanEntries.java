// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.BitSet;

/**
 * Which entries of a device's table of plans are in use, one for each engine. Thread-safe.
 *
 * <p>An entry is reserved and freed while the kernel is stopped.
 */
final class PlanEntries {

    static final int MAX_PLANS = 256;
    static final long LENGTH_BYTES = (long) MAX_PLANS * PlanDescriptor.PLAN_BYTES;

    private final long address;
    private final BitSet reserved = new BitSet(MAX_PLANS);

    /**
     * @param address device memory of {@link #LENGTH_BYTES}
     */
    PlanEntries(long address) {
        this.address = address;
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
    }

    synchronized boolean isEmpty() {
        return reserved.isEmpty();
    }

    /** Returns the address of the first entry in device memory. */
    long address() {
        return address;
    }

    /** Returns the address of an entry in device memory. */
    long address(int plan) {
        return address + (long) plan * PlanDescriptor.PLAN_BYTES;
    }
}
