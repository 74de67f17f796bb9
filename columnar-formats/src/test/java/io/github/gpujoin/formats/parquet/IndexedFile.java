// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.parquet;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.apache.parquet.column.ParquetProperties.WriterVersion;
import org.apache.parquet.conf.PlainParquetConfiguration;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.example.data.simple.SimpleGroupFactory;
import org.apache.parquet.hadoop.ParquetFileWriter;
import org.apache.parquet.hadoop.ParquetWriter;
import org.apache.parquet.hadoop.example.ExampleParquetWriter;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;
import org.apache.parquet.io.LocalOutputFile;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.MessageTypeParser;

/** Writes a file with small pages, a page index and, for one column, a Bloom filter. */
final class IndexedFile {

    private static final MessageType TYPE =
            MessageTypeParser.parseMessageType(
                    """
                    message t {
                      required int64 id;
                      required int32 ascending;
                      required int32 few;
                      required int64 wide;
                      optional int32 nulls;
                      optional int64 never_null;
                      optional binary text (STRING);
                    }
                    """);

    static final List<String> COLUMNS =
            TYPE.getFields().stream().map(field -> field.getName()).toList();

    private IndexedFile() {}

    /**
     * @param rowGroupBytes of a row group, about
     */
    static void write(Path file, int rowCount, long rowGroupBytes, CompressionCodecName codec)
            throws IOException {
        Random random = new Random(9);
        SimpleGroupFactory rows = new SimpleGroupFactory(TYPE);
        try (ParquetWriter<Group> writer =
                ExampleParquetWriter.builder(new LocalOutputFile(file))
                        .withType(TYPE)
                        .withWriteMode(ParquetFileWriter.Mode.OVERWRITE)
                        .withConf(new PlainParquetConfiguration())
                        .withCompressionCodec(codec)
                        .withWriterVersion(WriterVersion.PARQUET_1_0)
                        .withDictionaryEncoding(true)
                        .withDictionaryEncoding("wide", false)
                        .withBloomFilterEnabled("wide", true)
                        .withRowGroupSize(rowGroupBytes)
                        .withPageSize(8 << 10)
                        .withPageRowCountLimit(900)
                        .build()) {
            for (int i = 0; i < rowCount; i++) {
                Group row =
                        rows.newGroup()
                                .append("id", (long) i)
                                .append("ascending", i / 50)
                                .append("few", random.nextInt(40))
                                .append("wide", random.nextLong() | 1)
                                .append("never_null", (long) random.nextInt(1_000));
                if (i % 3 > 0) {
                    row.append("nulls", random.nextInt(100));
                }
                if (i % 4 > 0) {
                    row.append("text", "text " + random.nextInt(20));
                }
                writer.write(row);
            }
        }
    }
}
