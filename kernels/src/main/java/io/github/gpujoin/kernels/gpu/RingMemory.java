package io.github.gpujoin.kernels.gpu;

/** Where the serving kernel reads an engine's segments from. Results and answers are the same. */
public enum RingMemory {
    /** Mapped host memory, over the bus: a segment is there as soon as it is written. */
    HOST,
    /**
     * Device memory, where the driver copies segments to from pinned memory. Large copies use the
     * bus better than a kernel's reads do; a segment is there two steps later, and the ring takes
     * device memory.
     */
    DEVICE
}
