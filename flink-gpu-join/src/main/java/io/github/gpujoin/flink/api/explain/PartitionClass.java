// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api.explain;

import java.io.Serializable;
import java.util.List;
import org.apache.flink.annotation.PublicEvolving;

/**
 * The partitions of a dimension that the same engine joins.
 *
 * @param partitions number of radix partitions; {@link #ALL} if one engine joins the whole
 *     dimension, or before the job runs
 * @param engine name of the engine; {@code state} for spilled partitions; before the job runs, the
 *     engines that are possible, such as {@code gpu or cpu}
 * @param why reason why this engine joins
 * @param bytes bytes of the build rows; {@link #UNKNOWN} before the job runs
 * @param spread how the tables are spread over devices
 * @param devices that have the tables, if there are several, such as {@code 0}; empty before the
 *     job runs
 */
@PublicEvolving
public record PartitionClass(
        int partitions,
        String engine,
        ReasonCode why,
        long bytes,
        DeviceSpread spread,
        List<String> devices)
        implements Serializable {

    private static final long serialVersionUID = 1L;

    /** Number of partitions that stands for the whole dimension. */
    public static final int ALL = 0;

    /** Number of bytes or rows that is not known. */
    public static final long UNKNOWN = -1;

    /**
     * Copies the list.
     *
     * @param partitions number of radix partitions
     * @param engine name of the engine
     * @param why reason why this engine joins
     * @param bytes bytes of the build rows
     * @param spread how the tables are spread over devices
     * @param devices that have the tables
     */
    public PartitionClass {
        devices = List.copyOf(devices);
    }

    /**
     * Partitions whose tables are on the host, in state, or on a single device.
     *
     * @param partitions number of radix partitions
     * @param engine name of the engine
     * @param why reason why this engine joins
     * @param bytes bytes of the build rows
     */
    public PartitionClass(int partitions, String engine, ReasonCode why, long bytes) {
        this(partitions, engine, why, bytes, DeviceSpread.NONE, List.of());
    }
}
