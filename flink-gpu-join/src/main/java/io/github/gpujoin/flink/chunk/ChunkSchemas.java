package io.github.gpujoin.flink.chunk;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkFormatException;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.region.Memory;
import java.io.Serializable;
import java.util.List;

/**
 * Schemas of the chunks of a stream, and which one a chunk is of.
 *
 * @param form how a chunk finds its schema
 * @param schemas exactly one for {@link Form#SINGLE}
 */
record ChunkSchemas(Form form, List<ChunkSchema> schemas) implements Serializable {

    enum Form {
        /** All chunks have the one schema. */
        SINGLE,
        /** The dimension in the chunk's header is the schema's number. */
        BY_DIMENSION
    }

    ChunkSchemas {
        schemas = List.copyOf(schemas);
        if (schemas.isEmpty() || form == Form.SINGLE && schemas.size() != 1) {
            throw new IllegalArgumentException(
                    "a stream of chunks has a schema: form=" + form + ", schemas=" + schemas);
        }
    }

    static ChunkSchemas single(ChunkSchema schema) {
        return new ChunkSchemas(Form.SINGLE, List.of(schema));
    }

    static ChunkSchemas byDimension(List<ChunkSchema> schemas) {
        return new ChunkSchemas(Form.BY_DIMENSION, schemas);
    }

    ChunkSchema only() {
        if (form != Form.SINGLE) {
            throw new IllegalStateException(
                    "a stream of several dimensions has no one schema: schemas=" + schemas);
        }
        return schemas.get(0);
    }

    /**
     * Takes over the bytes of a chunk of at least a header.
     *
     * @throws ChunkFormatException where they break a rule of the layout
     */
    Chunk wrap(byte[] bytes) {
        if (form == Form.SINGLE) {
            return Chunk.wrap(schemas.get(0), bytes);
        }
        int dimension = Memory.getShort(bytes, Memory.BYTES + ChunkDescriptor.DIMENSION_OFFSET);
        if (dimension < 0 || dimension >= schemas.size()) {
            throw new ChunkFormatException(
                    "a build chunk is of one of the join's dimensions: dimension="
                            + dimension
                            + ", dimensions="
                            + schemas.size());
        }
        return Chunk.wrap(schemas.get(dimension), bytes);
    }

    @Override
    public String toString() {
        return form == Form.SINGLE ? schemas.get(0).toString() : schemas.toString();
    }
}
