package io.github.gpujoin.rdma.verbs;

/**
 * What makes writes of a network card visible to who looks at the GPU's memory meanwhile: here a
 * host that copies out of it, and just so a kernel. Untested on hardware.
 *
 * <p>Three rules, of which none replaces another:
 *
 * <ol>
 *   <li>The card writes data and flag in order, for they share a queue pair without relaxed
 *       ordering.
 *   <li>The GPU lets them be seen in order only where this says so; else the host flushes before
 *       each look. Who has seen the flag then flushes once more before it looks at the data: the
 *       flag may have arrived between flush and look, and what was written before it is only known
 *       to be visible after the next flush.
 *   <li>The slot's checksum is computed of what was copied, whatever this says. A slot whose flag
 *       is there and whose checksum is wrong is torn: it is left alone, and looked at again.
 * </ol>
 *
 * <p>After the CUDA driver API, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING and
 * CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS.
 */
public enum GpuWriteVisibility {
    /** What is seen, is seen in the order of writing. */
    ORDERED,
    /** The host calls cuFlushGPUDirectRDMAWrites before each look. */
    HOST_FLUSHES;

    /**
     * CU_GPU_DIRECT_RDMA_WRITES_ORDERING_OWNER; larger values order writes for other devices, too.
     */
    private static final int ORDERING_OWNER = 100;

    /** CU_FLUSH_GPU_DIRECT_RDMA_WRITES_OPTION_HOST. */
    private static final int FLUSH_OPTION_HOST = 1;

    /**
     * @param writesOrdering value of the first attribute
     * @param flushWritesOptions value of the second attribute, a set of bits
     * @throws VerbsException {@link VerbsFailure#NO_DEVICE} where writes can be made visible by
     *     neither
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
                "a GPU that a network card writes shows the writes in order, or lets the host flush"
                        + " them: writesOrdering="
                        + writesOrdering
                        + ", flushWritesOptions="
                        + flushWritesOptions
                        + " (keep the rings in host memory)");
    }
}
