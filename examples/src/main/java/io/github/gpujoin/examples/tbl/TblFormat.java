// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.tbl;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.flink.api.data.ChunkTypeInfo;
import java.io.IOException;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.file.src.FileSourceSplit;
import org.apache.flink.connector.file.src.reader.BulkFormat;
import org.apache.flink.connector.file.src.util.CheckpointedPosition;

/**
 * Format of a Flink file source that reads a {@code .tbl} file into chunks of the wanted columns.
 *
 * <p>Splittable at any byte: a split owns the lines that begin in it. A line ends with LF or CRLF,
 * the last line may lack its end, and a bar after the last field may be there or not. A malformed
 * line fails the job with a {@link MalformedLineException}.
 */
public final class TblFormat implements BulkFormat<Chunk, FileSourceSplit> {

    /** Size at which a chunk is handed on. */
    public static final int DEFAULT_CHUNK_BYTES = 256 << 10;

    private static final long serialVersionUID = 1L;

    private final TblTable table;
    private final ChunkSchema schema;
    private final int chunkBytes;

    public TblFormat(TblTable table, ChunkSchema schema) {
        this(table, schema, DEFAULT_CHUNK_BYTES);
    }

    /**
     * @param schema a projection of the table
     * @param chunkBytes at least 1; a chunk holds one row at least
     */
    public TblFormat(TblTable table, ChunkSchema schema, int chunkBytes) {
        this.table = table;
        this.schema = schema;
        this.chunkBytes = chunkBytes;
    }

    @Override
    public Reader<Chunk> createReader(Configuration config, FileSourceSplit split)
            throws IOException {
        return TblReader.atSplitStart(table, schema, chunkBytes, split);
    }

    @Override
    public Reader<Chunk> restoreReader(Configuration config, FileSourceSplit split)
            throws IOException {
        CheckpointedPosition position = split.getReaderPosition().orElseThrow();
        if (position.getOffset() == CheckpointedPosition.NO_OFFSET) {
            return createReader(config, split);
        }
        return TblReader.atLine(table, schema, chunkBytes, split, position.getOffset());
    }

    @Override
    public boolean isSplittable() {
        return true;
    }

    @Override
    public TypeInformation<Chunk> getProducedType() {
        return ChunkTypeInfo.of(schema);
    }
}
