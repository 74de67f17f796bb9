// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.bulk;

import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Closing;
import io.github.gpujoin.flink.exchange.local.LocalExchange;
import io.github.gpujoin.flink.exchange.local.OneToOneEdge;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.streaming.api.graph.StreamConfig;
import org.apache.flink.streaming.api.graph.StreamEdge;
import org.apache.flink.streaming.runtime.partitioner.ForwardPartitioner;

/** The receiving ends of both sides' {@linkplain ChunkSendOperator chunks}. */
final class ChunkInputs implements AutoCloseable {

    /** Number of the first input of an operator with two. */
    private static final int LEFT_INPUT = 1;

    /** Of the sides with one subtask; its chunks may be passed by reference. */
    private final Map<JoinSide, LocalExchange> exchanges = new EnumMap<>(JoinSide.class);

    static ChunkInputs open(StreamConfig operator, Environment task, ClassLoader userCode) {
        ChunkInputs inputs = new ChunkInputs();
        List<StreamEdge> edges = operator.getInPhysicalEdges(userCode);
        for (int i = 0; i < edges.size(); i++) {
            StreamEdge edge = edges.get(i);
            JoinSide side = side(edge.getTypeNumber());
            if (edge.getPartitioner() instanceof ForwardPartitioner) {
                OneToOneEdge.into(task.getInputGate(i))
                        .ifPresent(
                                from -> inputs.exchanges.put(side, LocalExchange.open(from, null)));
            }
        }
        return inputs;
    }

    /** Returns the side of an input of the operator. */
    static JoinSide side(int inputId) {
        return inputId == LEFT_INPUT ? JoinSide.LEFT : JoinSide.RIGHT;
    }

    /** Returns the chunk that has arrived, whose user is the caller. */
    Chunk received(JoinSide side, Chunk arrived) {
        LocalExchange exchange = exchanges.get(side);
        return exchange != null && LocalExchange.mayReceive(arrived)
                ? exchange.received(arrived)
                : LocalExchange.receivedWithout(arrived);
    }

    @Override
    public void close() {
        Closing.all(exchanges.values(), LocalExchange::close);
    }
}
