// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.symmetric;

import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.symmetric.SymmetricInput;
import io.github.gpujoin.flink.state.InputLog;
import io.github.gpujoin.flink.state.LogBytes;
import io.github.gpujoin.flink.state.PartitionKeys;
import io.github.gpujoin.flink.state.PendingLog;
import io.github.gpujoin.flink.state.PendingLog.PendingRows;
import io.github.gpujoin.flink.state.RegularJoinMetadata;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import org.apache.flink.api.common.TaskInfo;
import org.apache.flink.api.common.state.KeyedStateStore;
import org.apache.flink.runtime.state.StateInitializationContext;

/** The state of a subtask: the log of each input, and the rows that were not joined before. */
final class SymmetricState {

    private final PartitionKeys keys;
    private final LogBytes bytes = new LogBytes();
    private final List<InputLog> logs = new ArrayList<>();
    private final PendingLog pending;
    private final PendingLog deferred;

    /**
     * @throws IllegalStateException if the maximum parallelism is not the number of partitions
     */
    SymmetricState(
            StateInitializationContext context,
            SymmetricJoinSettings settings,
            TaskInfo task,
            IntConsumer setCurrentKey)
            throws Exception {
        this.keys = PartitionKeys.of(task, settings.partitions());
        new RegularJoinMetadata(
                        context.getOperatorStateStore(),
                        settings.partitions(),
                        settings.properties())
                .checkAndWrite();
        List<SymmetricInput> inputs = settings.plan().inputs();
        KeyedStateStore store = context.getKeyedStateStore();
        for (int i = 0; i < inputs.size(); i++) {
            logs.add(
                    new InputLog(
                            store,
                            settings.plan().labels().get(i) + "-rows",
                            inputs.get(i).schema(),
                            inputs.get(i).timeToLiveMs() == SymmetricInput.FOREVER,
                            keys,
                            bytes,
                            setCurrentKey));
        }
        List<ChunkSchema> schemas = inputs.stream().map(SymmetricInput::schema).toList();
        this.pending = new PendingLog(store, "pending-rows", schemas, keys, setCurrentKey);
        this.deferred = new PendingLog(store, "deferred-rows", schemas, keys, setCurrentKey);
    }

    PartitionKeys keys() {
        return keys;
    }

    /** Returns the bytes that this attempt appended to the logs. */
    LogBytes bytes() {
        return bytes;
    }

    /** Returns the logs, by input. */
    List<InputLog> logs() {
        return Collections.unmodifiableList(logs);
    }

    InputLog log(int input) {
        return logs.get(input);
    }

    /** Returns the rows of spilled partitions that wait for their tables. */
    PendingLog deferred() {
        return deferred;
    }

    /**
     * Emits the chunks that waited when the snapshot was taken, those of a partition in order, but
     * for the deferred ones, which are before them.
     */
    void restore(Consumer<PendingRows> consumer) throws Exception {
        for (InputLog log : logs) {
            log.restore();
        }
        deferred.restore();
        pending.restore();
        for (int partition : pending.partitions()) {
            pending.take(partition).forEach(consumer);
        }
    }

    /** Returns the bytes of the logs of a partition. */
    long bytes(int partition) throws Exception {
        long all = 0;
        for (InputLog log : logs) {
            all += log.size(partition).bytes();
        }
        return all;
    }

    /**
     * Completes the state for a snapshot.
     *
     * @param rows that were received and are neither in the logs nor deferred, in the order of
     *     arrival
     */
    void snapshot(List<PendingRows> rows) throws Exception {
        pending.clear();
        for (PendingRows each : rows) {
            pending.add(each);
        }
        for (InputLog log : logs) {
            log.snapshot();
        }
    }
}
