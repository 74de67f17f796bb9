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
 * Counts the rows that pass, in accumulators of the job, which its client can read while it runs. A
 * restart counts the rows that are read again once more.
 */
public final class RowCounter<T> extends RichMapFunction<T, T> {

    /** Accumulator of rows of all tables. */
    public static final String ROWS_READ = "rows-read";

    /** Accumulator of rows of facts. */
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

    /** Of records that are a row each, of facts or of a dimension. */
    public static <T> RowCounter<T> ofRecords(boolean facts) {
        return new RowCounter<>(facts, record -> 1);
    }

    /** Rows that the first lines of a text file let expect of it all. */
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
