// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.state;

import java.util.function.IntConsumer;
import org.apache.flink.api.common.state.KeyedStateStore;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.jspecify.annotations.Nullable;

/**
 * The dimensions that were complete in the subtask when a snapshot was taken, in keyed state under
 * each partition. A source that had finished by then sends nothing after a restore. Without this
 * record the join would wait for it forever.
 *
 * <pre>
 *  complete-dimensions: int64, bit d is set if every source subtask of dimension d was complete
 * </pre>
 */
public final class EndedDimensions {

    private static final String NAME = "complete-dimensions";

    private final PartitionKeys keys;
    private final IntConsumer setCurrentKey;
    private final ValueState<Long> state;

    /**
     * @param setCurrentKey of the operator that owns the keyed state
     */
    public EndedDimensions(KeyedStateStore store, PartitionKeys keys, IntConsumer setCurrentKey) {
        this.keys = keys;
        this.setCurrentKey = setCurrentKey;
        this.state = store.getState(new ValueStateDescriptor<>(NAME, LongSerializer.INSTANCE));
    }

    /**
     * Reads one bit for each dimension.
     *
     * @return null if the release that wrote the snapshot did not write them
     */
    public @Nullable Long read(int partition) throws Exception {
        setCurrentKey.accept(keys.keyOf(partition));
        return state.value();
    }

    public void write(int partition, long dimensions) throws Exception {
        setCurrentKey.accept(keys.keyOf(partition));
        state.update(dimensions);
    }
}
