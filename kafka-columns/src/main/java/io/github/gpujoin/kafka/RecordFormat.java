// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kafka;

import io.github.gpujoin.core.layout.ChunkSchema;
import java.io.IOException;
import java.io.Serializable;
import org.apache.flink.annotation.PublicEvolving;

/** How the values of a topic are encoded. Immutable: each reader opens a decoder of its own. */
@PublicEvolving
public interface RecordFormat extends Serializable {

    /**
     * Opens a decoder that reads some columns.
     *
     * @param schema columns to write, of which a decoder uses the indexes
     * @return the decoder
     * @throws IllegalArgumentException if the format has no such column, or has it with a type that
     *     the column cannot hold; the message names the column
     * @throws IOException if something that the format needs cannot be read
     */
    RecordDecoder open(ChunkSchema schema) throws IOException;
}
