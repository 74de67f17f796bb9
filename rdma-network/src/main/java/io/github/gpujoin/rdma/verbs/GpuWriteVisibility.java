// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.verbs;

/**
 * How writes of a network adapter become visible to a concurrent reader of the GPU's memory, such
 * as a host that copies from it or a kernel. Untested on hardware.
 *
 * <p>Three rules apply together:
 *
 * <ol>
 *   <li>The adapter writes data and flag in order, because they share a queue pair without relaxed
 *       ordering.
 *   <li>The GPU makes writes visible in order only if it reports {@link #ORDERED}. Otherwise the
 *       host flushes before each read. After it has seen the flag it flushes again before it reads
 *       the data: the flag may have arrived after the first flush, and only the next flush makes
 *       the data before it visible.
 *   <li>In both cases the reader computes the slot's checksum over its copy. A slot with a flag and
 *       a wrong checksum is torn: the reader ignores it and rereads it later.
 * </ol>
 *
 * <p>Source: CUDA driver API, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING and
 * CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS.
 */
public enum GpuWriteVisibility {
    /** Writes become visible in the order of writing. */
    ORDERED,
    /** The host calls cuFlushGPUDirectRDMAWrites before each read. */
    HOST_FLUSHES;

    /**
     * CU_GPU_DIRECT_RDMA_WRITES_ORDERING_OWNER; larger values also order writes for other devices.
     */
    private static final int ORDERING_OWNER = 100;

    /** CU_FLUSH_GPU_DIRECT_RDMA_WRITES_OPTION_HOST. */
    private static final int FLUSH_OPTION_HOST = 1;

    /**
     * Chooses the mode from the attributes of a GPU.
     *
     * @param writesOrdering value of the first attribute
     * @param flushWritesOptions value of the second attribute, a set of bits
     * @throws VerbsException {@link VerbsFailure#NO_DEVICE} if the GPU supports neither mode
     */
    public static GpuWriteVisibility of(int writesOrdering, int flushWritesOptions)
            throws VerbsException {
        if (writesOrdering >= ORDERING_OWNER) {
            return ORDERED;
        }
        if ((flushWritesOptions & FLUSH_OPTION_HOST) != 0) {
            return HOST_FLUSHES;
        }
        throw new VerbsException(
                VerbsFailure.NO_DEVICE,
                "GPU neither orders writes of a network adapter nor lets the host flush them:"
                        + " writesOrdering="
                        + writesOrdering
                        + ", flushWritesOptions="
                        + flushWritesOptions
                        + ". Keep the rings in host memory.");
    }
}
