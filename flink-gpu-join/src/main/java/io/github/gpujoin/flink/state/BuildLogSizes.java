// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.state;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.record.SnapshotDamage;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntConsumer;
import org.apache.flink.api.common.state.KeyedStateStore;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.array.LongPrimitiveArraySerializer;
import org.apache.flink.runtime.execution.SuppressRestartsException;

/**
 * The size of each partition's build log, in keyed state beside it. A restored subtask need not
 * read the logs to learn their sizes.
 *
 * <pre>
 *  build-log-size: value, under the partition
 *    int64 chunks | int64 rows | int64 bytes
 * </pre>
 *
 * <p>Not thread-safe.
 */
final class BuildLogSizes {

    private final String name;
    private final PartitionKeys keys;
    private final IntConsumer setCurrentKey;
    private final ValueState<long[]> state;

    /** Sizes that are not in state yet. */
    private final Map<Integer, PartitionSize> changed = new TreeMap<>();

    /**
     * @param name of the state
     * @param setCurrentKey of the operator that owns the keyed state
     */
    BuildLogSizes(
            KeyedStateStore store, String name, PartitionKeys keys, IntConsumer setCurrentKey) {
        this.name = name;
        this.keys = keys;
        this.setCurrentKey = setCurrentKey;
        this.state =
                store.getState(
                        new ValueStateDescriptor<>(name, LongPrimitiveArraySerializer.INSTANCE));
    }

    /** Counts a chunk that was appended to its partition's log. */
    void add(int partition, Chunk chunk) throws Exception {
        set(get(partition).plus(chunk));
    }

    /** Size after the last {@link #add} or {@link #set}, or in the restored snapshot. */
    PartitionSize get(int partition) throws Exception {
        PartitionSize size = changed.get(partition);
        if (size != null) {
            return size;
        }
        setCurrentKey.accept(keys.keyOf(partition));
        long[] words = state.value();
        if (words == null) {
            return PartitionSize.empty(partition);
        }
        if (words.length != 3 || words[0] < 0 || words[1] < 0 || words[2] < 0) {
            throw new SuppressRestartsException(
                    SnapshotDamage.in(
                            name,
                            "a build log has an impossible size: partition=%d, size=%s"
                                    .formatted(partition, Arrays.toString(words))));
        }
        return new PartitionSize(partition, words[0], words[1], words[2]);
    }

    void set(PartitionSize size) {
        changed.put(size.partition(), size);
    }

    /** Writes sizes that changed since the last call to the state. */
    void snapshot() throws Exception {
        for (PartitionSize size : changed.values()) {
            setCurrentKey.accept(keys.keyOf(size.partition()));
            state.update(new long[] {size.chunks(), size.rows(), size.bytes()});
        }
        changed.clear();
    }
}
