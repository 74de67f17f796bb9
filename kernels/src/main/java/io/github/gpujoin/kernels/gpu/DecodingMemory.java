// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.Arrays;

/**
 * Device memory in which the blocks of the serving kernel decode facts. Engines whose facts have
 * the same number of columns share it, since each block then decodes at the same place: a block
 * runs one step at a time, and a step reads no rows that another step decoded.
 *
 * <p>The first such engine allocates it, within its own budget. All of it is freed when the device
 * has no engine left. Used while the kernel is stopped.
 */
final class DecodingMemory implements AutoCloseable {

    private final Buffers buffers;
    private final int blocks;

    /** By number of columns; 0 if not allocated. */
    private final long[] addresses = new long[PlanDescriptor.MAX_FACT_COLUMNS + 1];

    /**
     * @param buffers own the memory
     * @param blocks of the serving kernel
     */
    DecodingMemory(Buffers buffers, int blocks) {
        this.buffers = buffers;
        this.blocks = blocks;
    }

    /**
     * Returns the address of the memory for facts of a number of columns.
     *
     * @param engine memory of the engine that decodes; its limits apply to a new allocation
     * @throws GpuUnavailableException with OUT_OF_DEVICE_MEMORY if there is no room for it
     */
    long address(int columnCount, Buffers engine) {
        if (addresses[columnCount] == 0) {
            long columnBytes = (long) blocks * PlanDescriptor.DECODED_COLUMN_BYTES;
            Buffers allocated = engine.sibling();
            addresses[columnCount] = allocated.device(columnBytes * columnCount);
            allocated.moveTo(buffers);
        }
        return addresses[columnCount];
    }

    /** Frees all memory; later engines allocate anew. */
    @Override
    public void close() {
        buffers.close();
        Arrays.fill(addresses, 0);
    }
}
