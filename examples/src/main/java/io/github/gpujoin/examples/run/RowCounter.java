package io.github.gpujoin.examples.run;

import io.github.gpujoin.core.layout.Chunk;
import org.apache.flink.api.common.accumulators.LongCounter;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichMapFunction;

/**
 * Counts the rows of chunks that pass, in accumulators of the job, which its client can read while
 * it runs. A restart counts the rows that are read again once more.
 */
public final class RowCounter extends RichMapFunction<Chunk, Chunk> {

    /** Accumulator of rows of all tables. */
    public static final String ROWS_READ = "rows-read";

    /** Accumulator of rows of facts. */
    public static final String FACT_ROWS = "fact-rows";

    private static final long serialVersionUID = 1L;

    private final boolean facts;
    private final LongCounter rowsRead = new LongCounter();
    private final LongCounter factRows = new LongCounter();

    private RowCounter(boolean facts) {
        this.facts = facts;
    }

    public static RowCounter ofFacts() {
        return new RowCounter(true);
    }

    public static RowCounter ofDimension() {
        return new RowCounter(false);
    }

    @Override
    public void open(OpenContext context) {
        getRuntimeContext().addAccumulator(ROWS_READ, rowsRead);
        getRuntimeContext().addAccumulator(FACT_ROWS, factRows);
    }

    @Override
    public Chunk map(Chunk chunk) {
        rowsRead.add(chunk.rowCount());
        if (facts) {
            factRows.add(chunk.rowCount());
        }
        return chunk;
    }
}
