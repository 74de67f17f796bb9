// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.run;

import io.github.gpujoin.core.layout.Chunk;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.flink.api.common.accumulators.LongCounter;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.util.function.SerializableFunction;

/**
 * Counts rows in accumulators that the client can read while the job runs. After a restart, rows
 * that the source replays are counted again.
 */
public final class RowCounter<T> extends RichMapFunction<T, T> {

    /** Name of the accumulator of the rows of all tables. */
    public static final String ROWS_READ = "rows-read";

    /** Name of the accumulator of the fact rows. */
    public static final String FACT_ROWS = "fact-rows";

    private static final long serialVersionUID = 1L;
    private static final int SAMPLE_BYTES = 64 << 10;

    private final boolean facts;
    private final SerializableFunction<T, Integer> rowsOf;
    private final LongCounter rowsRead = new LongCounter();
    private final LongCounter factRows = new LongCounter();

    private RowCounter(boolean facts, SerializableFunction<T, Integer> rowsOf) {
        this.facts = facts;
        this.rowsOf = rowsOf;
    }

    public static RowCounter<Chunk> ofFacts() {
        return new RowCounter<>(true, Chunk::rowCount);
    }

    public static RowCounter<Chunk> ofDimension() {
        return new RowCounter<>(false, Chunk::rowCount);
    }

    /** Creates a counter for records that hold one row each. */
    public static <T> RowCounter<T> ofRecords(boolean facts) {
        return new RowCounter<>(facts, record -> 1);
    }

    /** Estimates the rows of a text file from the line lengths of its first 64 KiB. */
    public static long estimate(Path file) {
        try (InputStream in = Files.newInputStream(file)) {
            byte[] sample = in.readNBytes(SAMPLE_BYTES);
            long lines = 0;
            for (byte b : sample) {
                lines += b == '\n' ? 1 : 0;
            }
            return sample.length == 0 ? 0 : lines * Files.size(file) / sample.length;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void open(OpenContext context) {
        getRuntimeContext().addAccumulator(ROWS_READ, rowsRead);
        getRuntimeContext().addAccumulator(FACT_ROWS, factRows);
    }

    @Override
    public T map(T element) {
        int rows = rowsOf.apply(element);
        rowsRead.add(rows);
        if (facts) {
            factRows.add(rows);
        }
        return element;
    }
}
