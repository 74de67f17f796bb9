// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.state;

import io.github.gpujoin.core.layout.KeyHash;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.flink.api.common.state.BroadcastState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.OperatorStateStore;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.runtime.execution.SuppressRestartsException;

/**
 * Properties that the job that wrote a snapshot of a regular join shares with the job that restores
 * it, by name, in broadcast state. So every subtask reads them, whatever the parallelism was.
 */
public final class RegularJoinMetadata {

    private static final String NAME = "regular-join";
    private static final String FORMAT = "format";
    private static final String FORMAT_VERSION = "1";

    private final BroadcastState<String, String> state;
    private final Map<String, String> own = new LinkedHashMap<>();

    /**
     * @param properties of the join; a change of any makes the rows in state unreadable
     */
    public RegularJoinMetadata(
            OperatorStateStore store, int partitions, Map<String, String> properties)
            throws Exception {
        this.state =
                store.getBroadcastState(
                        new MapStateDescriptor<>(
                                NAME, StringSerializer.INSTANCE, StringSerializer.INSTANCE));
        own.put(FORMAT, FORMAT_VERSION);
        own.put("hash version", Integer.toString(KeyHash.VERSION));
        own.put("partitions", Integer.toString(partitions));
        own.putAll(properties);
    }

    /**
     * Compares the join with the snapshot's, if any, and writes it for the next snapshot.
     *
     * @throws SuppressRestartsException if the snapshot is of another join
     */
    public void checkAndWrite() throws Exception {
        boolean isRestored = state.contains(FORMAT);
        for (Map.Entry<String, String> property : own.entrySet()) {
            String restored = state.get(property.getKey());
            if (isRestored && !property.getValue().equals(restored)) {
                throw new SuppressRestartsException(
                        new IllegalStateException(
                                "Regular join differs from that of the state in its %s: expected %s, restored %s.\nRestore the former join, or give this one another uid to start without state."
                                        .formatted(
                                                property.getKey(), property.getValue(), restored)));
            }
        }
        state.putAll(own);
    }
}
