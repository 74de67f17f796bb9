// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.parquet;

import java.io.Closeable;
import java.io.FileNotFoundException;
import java.io.IOException;
import org.apache.flink.core.fs.Path;
import org.apache.parquet.ParquetReadOptions;
import org.apache.parquet.conf.PlainParquetConfiguration;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.metadata.ColumnChunkMetaData;
import org.apache.parquet.hadoop.metadata.ColumnPath;
import org.apache.parquet.schema.MessageType;

/**
 * An open file: parquet-java's reader of its metadata and pages, and the memory that the reader
 * uses. Not thread-safe.
 */
record ParquetFile(
        ParquetFileReader reader, PageDecompressors decompressors, ReadBuffers readBuffers)
        implements Closeable {

    /** Opens a file; the caller closes it. */
    static ParquetFile open(Path path, long lengthBytes) throws IOException {
        PageDecompressors decompressors = new PageDecompressors();
        ReadBuffers readBuffers = new ReadBuffers();
        ParquetReadOptions options =
                ParquetReadOptions.builder(new PlainParquetConfiguration())
                        .usePageChecksumVerification()
                        .withCodecFactory(decompressors)
                        .withAllocator(readBuffers)
                        .build();
        try {
            return new ParquetFile(
                    ParquetFileReader.open(new FlinkInputFile(path, lengthBytes), options),
                    decompressors,
                    readBuffers);
        } catch (FileNotFoundException e) {
            throw e;
        } catch (IOException | RuntimeException e) {
            throw FileFault.of(path, lengthBytes, e);
        }
    }

    /** Returns the columns of the file. */
    MessageType types() {
        return reader.getFileMetaData().getSchema();
    }

    /** Returns false if the statistics of all row groups exclude nulls in a column. */
    boolean mayHaveNulls(String column) {
        ColumnPath path = ColumnPath.get(column);
        return reader.getRowGroups().stream()
                .flatMap(group -> group.getColumns().stream())
                .filter(chunk -> chunk.getPath().equals(path))
                .map(ColumnChunkMetaData::getStatistics)
                .anyMatch(
                        statistics ->
                                statistics == null
                                        || !statistics.isNumNullsSet()
                                        || statistics.getNumNulls() > 0);
    }

    @Override
    public void close() throws IOException {
        reader.close();
    }
}
