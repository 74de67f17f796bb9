// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.flink.api.explain.JoinExplanation;
import io.github.gpujoin.flink.engine.AssignedGpu;
import io.github.gpujoin.flink.runtime.distribution.MeasuredDimension;
import io.github.gpujoin.flink.state.BuildLog;
import io.github.gpujoin.flink.state.ChunkMigration;
import io.github.gpujoin.flink.state.EndedDimensions;
import io.github.gpujoin.flink.state.EventTimeLog;
import io.github.gpujoin.flink.state.JoinMetadata;
import io.github.gpujoin.flink.state.PartitionDivider;
import io.github.gpujoin.flink.state.PartitionKeys;
import io.github.gpujoin.flink.state.ProbeLog;
import io.github.gpujoin.flink.state.ReplicaCopies;
import java.util.Set;
import org.apache.flink.api.common.state.KeyedStateStore;
import org.apache.flink.runtime.state.StateInitializationContext;

/** The state of a subtask of the join, checked against the snapshot and migrated. */
final class SubtaskState {

    private final SubtaskContext subtask;
    private final JoinSpec spec;
    private final KeyedStateStore store;
    private final PartitionKeys keys;
    private final ChunkMigration migration;
    private final ReplicaCopies copies;
    private final BuildLog buildLog;
    private final ProbeLog probeLog;

    /**
     * @param gpu of the subtask
     * @throws IllegalStateException if the maximum parallelism is not the number of partitions
     */
    SubtaskState(SubtaskContext subtask, StateInitializationContext context, AssignedGpu gpu)
            throws Exception {
        JoinSettings settings = subtask.settings();
        this.subtask = subtask;
        this.spec = settings.spec();
        this.store = context.getKeyedStateStore();
        this.keys = PartitionKeys.of(subtask.task(), settings.partitions());
        this.migration =
                new JoinMetadata(
                                context.getOperatorStateStore(),
                                spec,
                                settings.columns(),
                                settings.partitions(),
                                settings.reporting().plan().partitionedDimension())
                        .checkAndWrite(subtask.userCode());
        this.copies =
                new ReplicaCopies(
                        spec,
                        settings.replicas().dimensions(),
                        !settings.replicas().isEmpty() && settings.engines().mayReadAgain(gpu));
        this.buildLog =
                new BuildLog(
                        context,
                        spec,
                        keys,
                        copies,
                        settings.eventTime() != null && settings.eventTime().joinsLateRows(),
                        subtask::setCurrentKey);
        buildLog.migrate(migration);
        if (context.isRestored()) {
            buildLog.checkKeys(settings.columns().keyCheck());
        }
        this.probeLog = new ProbeLog(store, keys, subtask::setCurrentKey, spec.factSchema());
        probeLog.migrate(migration);
    }

    KeyedStateStore store() {
        return store;
    }

    PartitionKeys keys() {
        return keys;
    }

    /** Numbers of dimensions whose rows in the snapshot are dropped. */
    Set<Integer> readAgain() {
        return migration.readAgain();
    }

    ReplicaCopies copies() {
        return copies;
    }

    BuildLog buildLog() {
        return buildLog;
    }

    ProbeLog probeLog() {
        return probeLog;
    }

    EndedDimensions endedDimensions() {
        return new EndedDimensions(store, keys, subtask::setCurrentKey);
    }

    /** Opens and migrates the log of rows that wait for their event time. */
    EventTimeLog openEventTimeLog() throws Exception {
        EventTimeLog log = new EventTimeLog(store, spec, keys, subtask::setCurrentKey);
        log.migrate(migration);
        return log;
    }

    /** Divides chunks of facts, if facts are sent by the key of a dimension now or at times. */
    PartitionDivider factDivider() {
        MeasuredDimension measured = subtask.settings().replicas().measured();
        int dimension = measured == null ? partitionedDimension() : measured.number();
        return dimension == JoinExplanation.NONE
                ? PartitionDivider.none()
                : new PartitionDivider(
                        keys, spec.factSchema(), spec.dimensions().get(dimension).factKeyColumn());
    }

    /** Divides chunks of the partitioned dimension, if the join has one. */
    PartitionDivider buildDivider() {
        int partitioned = partitionedDimension();
        if (partitioned == JoinExplanation.NONE) {
            return PartitionDivider.none();
        }
        DimensionSpec dimension = spec.dimensions().get(partitioned);
        return new PartitionDivider(keys, dimension.schema(), dimension.keyColumn());
    }

    private int partitionedDimension() {
        return subtask.settings().reporting().plan().partitionedDimension();
    }
}
