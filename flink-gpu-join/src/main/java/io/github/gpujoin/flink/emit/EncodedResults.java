// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import io.github.gpujoin.core.encoding.EncodedChunk;
import io.github.gpujoin.core.encoding.EncodedChunkAssembler;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.engine.ResultBatch.PackedColumn;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;

/**
 * Makes result chunks of columns that are encoded already: those of an encoded fact chunk, and
 * packed results. Copies a few bytes a row where another emitter would decode. Not thread-safe.
 */
final class EncodedResults {

    private final ColumnSource[] sources;
    private final EncodedChunkAssembler assembler;
    private final boolean reusesMemory;

    /**
     * @param sources of the columns, which are copied as they are
     * @param reusesMemory whether chunks are transient
     */
    EncodedResults(ChunkSchema schema, ColumnSource[] sources, boolean reusesMemory) {
        this.sources = sources;
        this.reusesMemory = reusesMemory;
        this.assembler = new EncodedChunkAssembler(schema);
    }

    /** Whether the rows are a whole batch, one for each of some adjacent rows of encoded facts. */
    static boolean isEncoded(ResultBatch batch, int fromRow, int toRow) {
        return batch.chunk() instanceof EncodedChunk
                && batch.isConsecutive()
                && fromRow == 0
                && toRow == batch.rowCount()
                && toRow > 0;
    }

    /** Returns the results of such a batch. */
    Chunk of(ResultBatch batch, long sequence) {
        assembler.begin(batch.rowCount());
        EncodedChunk facts = (EncodedChunk) batch.chunk();
        for (ColumnSource source : sources) {
            if (source.location() == ColumnSource.Location.FACT_FIXED) {
                assembler.add(facts, source.index(), batch.probeRow(0));
            } else {
                addPayload(batch, source.dimension(), source.index());
            }
        }
        return assembler.seal(
                ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, 0, sequence, reusesMemory);
    }

    private void addPayload(ResultBatch batch, int dimension, int payload) {
        PackedColumn packed = batch.packedPayload(dimension, payload);
        if (packed == null) {
            assembler.addPlain(null, batch.payloadAddress(dimension, payload));
        } else {
            assembler.addPacked(packed.address(), packed.bits(), packed.base());
        }
    }
}
