// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.simulation;

import io.github.gpujoin.flink.simulation.JobPlan.Vertex;
import java.util.List;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;
import org.apache.flink.state.rocksdb.EmbeddedRocksDBStateBackend;
import org.apache.flink.state.rocksdb.RocksDBOptions;
import org.apache.flink.streaming.api.operators.StreamOperatorFactory;
import org.jspecify.annotations.Nullable;

/**
 * What all attempts of a life share.
 *
 * @param hostGpu null in most lives, and without a C++ compiler
 */
record LifeSetting(
        Scenario scenario, SimulatedCoordinators coordinators, @Nullable HostGpu hostGpu) {

    private static final StateBackend HEAP = new HashMapStateBackend();

    /** Uses memory of its own: the simulation has no slots that could lend it any. */
    private static final StateBackend ROCKSDB =
            new EmbeddedRocksDBStateBackend()
                    .configure(
                            new Configuration().set(RocksDBOptions.USE_MANAGED_MEMORY, false),
                            LifeSetting.class.getClassLoader());

    int channelCapacity() {
        return scenario.channelCapacity();
    }

    int burst() {
        return scenario.burst();
    }

    boolean blocksForBarriers() {
        return scenario.shape().isExactlyOnce();
    }

    List<Split> splitsOf(String source) {
        return scenario.splits().stream().filter(s -> s.source().equals(source)).toList();
    }

    String sourceOf(Vertex vertex) {
        return vertex.operator(vertex.head()).getOperatorName().replace("Source: ", "");
    }

    StreamOperatorFactory<Object> withDevices(StreamOperatorFactory<Object> factory) {
        if (hostGpu != null) {
            return FailingDevice.putInto(factory, gpu -> hostGpu);
        }
        return scenario.shape().hasFailingDevice()
                ? FailingDevice.putInto(factory, scenario.goodCalls())
                : factory;
    }

    StateBackend stateBackend() {
        return scenario.hasRocksDb() ? ROCKSDB : HEAP;
    }

    boolean isBounded(String source) {
        return scenario.isBounded(source);
    }
}
