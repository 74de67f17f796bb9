// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.bulk;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.flink.exchange.local.LocalExchangeSender;
import java.util.Optional;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/**
 * Sends the chunks of a side to {@link ChunkJoinOperator}: by reference, if the only subtask of the
 * side is in the same process, else through Flink's channel.
 */
public final class ChunkSendOperator extends AbstractStreamOperator<Chunk>
        implements OneInputStreamOperator<Chunk, Chunk> {

    private static final long serialVersionUID = 1L;

    private final ChunkSchema schema;

    /** Empty if chunks go through the channel. */
    private transient Optional<LocalExchangeSender> exchange;

    /**
     * @param schema of all chunks
     */
    public ChunkSendOperator(ChunkSchema schema) {
        this.schema = schema;
    }

    @Override
    public void open() throws Exception {
        super.open();
        exchange =
                LocalExchangeSender.outOf(
                        getOperatorConfig(),
                        getContainingTask().getEnvironment(),
                        getUserCodeClassloader(),
                        schema);
    }

    @Override
    public void processElement(StreamRecord<Chunk> element) {
        Chunk chunk = element.getValue();
        if (exchange.isPresent() && chunk.rowCount() > 0) {
            chunk = exchange.get().send(chunk);
        }
        output.collect(element.replace(chunk));
    }
}
