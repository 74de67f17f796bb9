// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api.explain;

import java.io.Serializable;
import org.apache.flink.annotation.PublicEvolving;

/**
 * Radix partitions of a dimension that are joined in the same way.
 *
 * @param partitions {@value #ALL} where the dimension is replicated, or nothing is divided yet
 * @param engine name of the engine, or of those that may be
 * @param why it is this engine
 * @param bytes of the build rows; {@value #UNKNOWN} before they came
 */
@PublicEvolving
public record PartitionClass(int partitions, String engine, ReasonCode why, long bytes)
        implements Serializable {

    private static final long serialVersionUID = 1L;

    /** For {@link #partitions}. */
    public static final int ALL = 0;

    /** For bytes and rows. */
    public static final long UNKNOWN = -1;
}
