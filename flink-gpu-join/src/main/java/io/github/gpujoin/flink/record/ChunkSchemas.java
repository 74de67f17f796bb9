// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.record;

import io.github.gpujoin.core.encoding.ChunkDecoder;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkChecksum;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkFormatException;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.region.Memory;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

/**
 * Schemas of the chunks of a stream, and which one a chunk is of.
 *
 * @param form how a chunk finds its schema
 * @param schemas exactly one for {@link Form#SINGLE}
 */
public record ChunkSchemas(Form form, List<ChunkSchema> schemas) implements Serializable {

    /** How a chunk finds its schema. */
    public enum Form {
        /** All chunks have the same schema. */
        SINGLE,
        /** The dimension number in the header selects the schema. */
        BY_DIMENSION,
        /** The same, with chunks of facts, whose schema is the first. */
        FACTS_AND_DIMENSIONS
    }

    public ChunkSchemas {
        schemas = List.copyOf(schemas);
        if (schemas.isEmpty() || form == Form.SINGLE && schemas.size() != 1) {
            throw new IllegalArgumentException(
                    "Number of schemas does not fit the form of the stream: form="
                            + form
                            + ", schemas="
                            + schemas);
        }
    }

    /** Returns schemas of a stream whose chunks have this schema. */
    public static ChunkSchemas single(ChunkSchema schema) {
        return new ChunkSchemas(Form.SINGLE, List.of(schema));
    }

    /** Returns schemas of a stream in which chunks of dimension {@code d} have schema {@code d}. */
    public static ChunkSchemas byDimension(List<ChunkSchema> schemas) {
        return new ChunkSchemas(Form.BY_DIMENSION, schemas);
    }

    /** Returns the same with chunks of facts in the stream. */
    public static ChunkSchemas factsAndDimensions(ChunkSchema facts, List<ChunkSchema> dimensions) {
        List<ChunkSchema> schemas = new ArrayList<>(List.of(facts));
        schemas.addAll(dimensions);
        return new ChunkSchemas(Form.FACTS_AND_DIMENSIONS, schemas);
    }

    /** The dimension that chunks of the first schema may name. */
    int firstDimension() {
        return form == Form.FACTS_AND_DIMENSIONS ? ChunkDescriptor.FACTS : 0;
    }

    /**
     * Returns the schema of all chunks.
     *
     * @throws IllegalStateException if it depends on the dimension
     */
    public ChunkSchema only() {
        if (form != Form.SINGLE) {
            throw new IllegalStateException(
                    "A stream of several dimensions does not have a single schema: schemas="
                            + schemas);
        }
        return schemas.get(0);
    }

    /**
     * Wraps the bytes of a chunk of at least a header. Encoded facts stay encoded.
     *
     * @throws ChunkFormatException if they do not have the layout of a chunk
     */
    Chunk wrap(byte[] bytes) {
        return dimensionOf(bytes) == ChunkDescriptor.FACTS
                ? ChunkDecoder.open(schemaOf(bytes), bytes)
                : ChunkDecoder.decode(schemaOf(bytes), bytes);
    }

    /**
     * Checks that the stream may contain chunks of a schema.
     *
     * @throws IllegalArgumentException if not; the message has both schemas
     */
    void require(ChunkSchema schema) {
        if (!schemas.contains(schema)) {
            throw new IllegalArgumentException(
                    "A chunk has another schema than its stream: expected=%s, schema=%s.\nDeclare the stream with .returns(ChunkTypeInfo.of(schema)) of its chunks."
                            .formatted(this, schema));
        }
    }

    /** Whether the bytes are a valid chunk with other columns than its side has. */
    boolean areOther(byte[] bytes) {
        long header = Memory.BYTES;
        return Memory.getInt(bytes, header + ChunkDescriptor.SCHEMA_OFFSET)
                        != schemaOf(bytes).fingerprint()
                && bytes.length % Long.BYTES == 0
                && Memory.getLong(bytes, header + ChunkDescriptor.CHECKSUM_OFFSET)
                        == ChunkChecksum.of(bytes, header, bytes.length);
    }

    private ChunkSchema schemaOf(byte[] bytes) {
        if (form == Form.SINGLE) {
            return schemas.get(0);
        }
        int dimension = dimensionOf(bytes);
        int number = dimension - firstDimension();
        if (number < 0 || number >= schemas.size()) {
            throw new ChunkFormatException(
                    "A build chunk names an unknown dimension: dimension="
                            + dimension
                            + ", dimensions="
                            + (schemas.size() + firstDimension()));
        }
        return schemas.get(number);
    }

    private static int dimensionOf(byte[] bytes) {
        return Memory.getShort(bytes, Memory.BYTES + ChunkDescriptor.DIMENSION_OFFSET);
    }

    @Override
    public String toString() {
        return form == Form.SINGLE ? schemas.get(0).toString() : schemas.toString();
    }
}
