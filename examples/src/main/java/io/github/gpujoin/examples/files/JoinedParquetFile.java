// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.files;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.api.data.JoinedChunkWriter;
import io.github.gpujoin.formats.parquet.ParquetChunkWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.MessageTypeParser;
import org.apache.parquet.schema.Type;

/** The Parquet file of a join: the columns of the probe file, then those of the build file. */
final class JoinedParquetFile implements JoinedChunkWriter {

    private static final int MISSING = -1;

    private final ParquetChunkWriter writer;
    private final Path draft;
    private final Path file;

    /** Columns of chunks with both sides, with the left side only, and with the right side only. */
    private final int[] both;

    private final int[] left;
    private final int[] right;

    /**
     * Creates the file of an attempt.
     *
     * @param directory in which the complete file appears
     * @param types of the columns of the file, as a schema whose names are numbers
     * @param names of the columns, which may be no names in the text of a schema
     */
    record Factory(String directory, String types, List<String> names, int leftColumns)
            implements JoinedChunkWriter.Factory {

        private static final long serialVersionUID = 1L;

        static Factory of(Path directory, MessageType types, int leftColumns) {
            List<String> names = types.getFields().stream().map(Type::getName).toList();
            List<String> numbers =
                    IntStream.range(0, names.size()).mapToObj(Integer::toString).toList();
            return new Factory(
                    directory.toString(),
                    ParquetJoin.named(types.getFields(), numbers).toString(),
                    new ArrayList<>(names),
                    leftColumns);
        }

        private MessageType schema() {
            return ParquetJoin.named(MessageTypeParser.parseMessageType(types).getFields(), names);
        }

        @Override
        public JoinedChunkWriter create(int attempt, int threads) throws IOException {
            return new JoinedParquetFile(this, attempt, threads);
        }
    }

    private JoinedParquetFile(Factory settings, int attempt, int threads) throws IOException {
        Path directory = Path.of(settings.directory);
        this.draft = directory.resolve(".part-0." + attempt);
        this.file = directory.resolve("part-0");
        MessageType types = settings.schema();
        int columns = types.getFieldCount();
        this.both = IntStream.range(0, columns).toArray();
        this.left = both.clone();
        Arrays.fill(left, Math.min(columns, settings.leftColumns), columns, MISSING);
        this.right = IntStream.range(0, columns).map(i -> i - settings.leftColumns).toArray();
        Arrays.fill(right, 0, Math.min(columns, settings.leftColumns), MISSING);
        this.writer =
                new ParquetChunkWriter(
                        new org.apache.flink.core.fs.Path(draft.toUri()), types, threads);
    }

    @Override
    public void write(Chunk rows, boolean hasLeft, boolean hasRight)
            throws IOException, InterruptedException {
        writer.write(rows, hasLeft && hasRight ? both : hasLeft ? left : right);
    }

    @Override
    public void finish() throws IOException, InterruptedException {
        writer.finish();
        // An attempt that failed after this step has left its file.
        Files.move(draft, file, StandardCopyOption.REPLACE_EXISTING);
    }

    @Override
    public void close() throws IOException {
        writer.close();
        Files.deleteIfExists(draft);
    }
}
