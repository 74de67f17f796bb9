// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

/**
 * Memory from which the serving kernel reads the segments of an engine. The results do not depend
 * on it.
 */
public enum RingMemory {
    /** Mapped host memory, read over the bus. A segment is readable as soon as it is written. */
    HOST,
    /**
     * Device memory, to which the driver copies segments from pinned memory. Large copies use the
     * bus better than reads of a kernel; but a segment is readable two steps later, and the ring
     * occupies device memory.
     */
    DEVICE
}
