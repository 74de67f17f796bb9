// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.flink.api.explain.PartitionClass;
import io.github.gpujoin.flink.api.explain.ReasonCode;
import java.util.List;

/** What logs and metrics say of a subtask's engine. Its methods may be called by any thread. */
public interface EngineStatus {

    /** Name of the engine, or of the engines with a {@code +} between them. */
    String engineName();

    /** Why it is this engine. */
    ReasonCode reason();

    /**
     * What joins which partitions of a partitioned dimension; empty where one engine at a time
     * joins all.
     */
    List<PartitionClass> partitionClasses();

    /** An engine that joins on the device; else any. */
    JoinEngine current();
}
