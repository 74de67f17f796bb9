// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.flink.api.explain.DeviceSpread;
import io.github.gpujoin.flink.api.explain.PartitionClass;
import io.github.gpujoin.flink.api.explain.ReasonCode;
import io.github.gpujoin.kernels.gpu.GpuJoinEngine;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Status of a subtask's engine for logs and metrics. Any thread may call its methods. */
public interface EngineStatus {

    /** Name of the engine, or of the engines with a {@code +} between them. */
    String engineName();

    /** Reason why this engine joins. */
    ReasonCode reason();

    /**
     * Engines of the partitions of a partitioned dimension; empty if one engine at a time joins
     * all.
     */
    List<PartitionClass> partitionClasses();

    /** The engine of the device if it joins, otherwise any engine; null until tables are built. */
    @Nullable JoinEngine current();

    /** The devices that join together; empty if there are none, or one. */
    default List<String> devices() {
        return current() instanceof GpuJoinEngine gpu && gpu.devices().size() > 1
                ? gpu.devices()
                : List.of();
    }

    /** How the table of a dimension that is not divided is spread over the devices. */
    default DeviceSpread spread(int dimension) {
        if (devices().isEmpty() || !(current() instanceof GpuJoinEngine gpu)) {
            return DeviceSpread.NONE;
        }
        return gpu.isSharded(dimension) ? DeviceSpread.SHARDED : DeviceSpread.REPLICATED;
    }

    /** Number of tables that are spread so over several devices. */
    default long tableCount(DeviceSpread spread) {
        JoinEngine current = current();
        return current == null
                ? 0
                : IntStream.range(0, current.spec().dimensions().size())
                        .filter(dimension -> spread(dimension) == spread)
                        .count();
    }
}
