// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.flink.api.explain.PartitionClass;
import io.github.gpujoin.flink.api.explain.ReasonCode;
import java.util.List;
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
}
