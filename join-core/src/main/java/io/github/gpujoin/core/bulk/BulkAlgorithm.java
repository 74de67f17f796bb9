// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.bulk;

import java.util.Locale;

/** How a bulk join finds the matches. */
public enum BulkAlgorithm {
    /** Row by row, as the reference that tests compare with. */
    REFERENCE,
    /** Threads of the CPU partition both inputs by the bits of a hash and join the partitions. */
    CPU_RADIX,
    /** A GPU partitions both inputs in its memory and joins the partitions. */
    GPU_RADIX,
    /** A GPU merges inputs that are in the order of their keys. */
    GPU_MERGE,
    /** A GPU joins inputs that exceed its memory, partition by partition. */
    GPU_OUT_OF_CORE,
    /** GPUs exchange rows, so that each of them has and joins the keys that it owns. */
    GPU_REPARTITIONED,
    /** GPUs join the rows that each of them has loaded with all rows of a small input. */
    GPU_REPLICATED;

    /** Returns the name in metrics and logs, for example {@code cpu-radix}. */
    public String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
