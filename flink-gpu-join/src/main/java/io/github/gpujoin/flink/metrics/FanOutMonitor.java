// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.metrics;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.layout.Chunk;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Measures large fan-outs, and warns of their keys, since a join that seems to stall may multiply
 * rows. Counts the results of facts with at least the fan-out to warn of, or with more results than
 * a batch. A batch costs a few comparisons, and one more for each half of that fan-out in its rows.
 * Not thread-safe, except that any thread may read the metric.
 */
public final class FanOutMonitor {

    private static final Logger LOG = LoggerFactory.getLogger(FanOutMonitor.class);

    private final String join;
    private final JoinSpec spec;
    private final HeavyHitterSketch buildKeys;
    private final int warnFrom;
    private long nextWarning;
    private volatile long maxFanOut;

    /** Chunk of the fact whose results continue in the next batch, or null. */
    private @Nullable Chunk chunk;

    private int row;
    private long results;

    /**
     * @param buildKeys sampled keys of the build side
     * @param warnFrom smallest fan-out to warn of, at least 2; the next warning needs twice as many
     */
    public FanOutMonitor(String join, JoinSpec spec, HeavyHitterSketch buildKeys, int warnFrom) {
        this.join = join;
        this.spec = spec;
        this.buildKeys = buildKeys;
        this.warnFrom = warnFrom;
        this.nextWarning = warnFrom;
    }

    /** Largest counted fan-out. Any thread. */
    public long maxFanOut() {
        return maxFanOut;
    }

    /** Accepts the batches of an engine in order. */
    public void accept(ResultBatch batch) {
        int from = 0;
        if (chunk != null) {
            boolean goesOn =
                    batch.chunk() == chunk && batch.rowCount() > 0 && batch.probeRow(0) == row;
            from = goesOn ? endOf(batch, 0) : 0;
            results += from;
            if (batch.chunk() != chunk || batch.completedRows() > row) {
                finish(chunk, row, results);
                chunk = null;
            }
        }
        int end = batch.rowCount();
        if (chunk == null && end > from && batch.probeRow(end - 1) >= batch.completedRows()) {
            chunk = batch.chunk();
            row = batch.probeRow(end - 1);
            int begin = beginOf(batch, end - 1);
            results = end - begin;
            end = begin;
        }
        countWithin(batch, from, end);
    }

    /** Checks rows in steps of half the fan-out to warn of; larger fan-outs span two steps. */
    private void countWithin(ResultBatch batch, int from, int end) {
        int step = warnFrom / 2;
        int at = from;
        while (at + step < end) {
            int probeRow = batch.probeRow(at);
            if (batch.probeRow(at + step) != probeRow) {
                at += step;
                continue;
            }
            int begin = beginOf(batch, at);
            int next = endOf(batch, at);
            if (next - begin >= warnFrom) {
                finish(batch.chunk(), probeRow, next - begin);
            }
            at = next;
        }
    }

    /** The first row of a row's fact. */
    private static int beginOf(ResultBatch batch, int of) {
        int begin = of;
        while (begin > 0 && batch.probeRow(begin - 1) == batch.probeRow(of)) {
            begin--;
        }
        return begin;
    }

    /** The row after the last one of a row's fact. */
    private static int endOf(ResultBatch batch, int of) {
        int end = of;
        while (end < batch.rowCount() && batch.probeRow(end) == batch.probeRow(of)) {
            end++;
        }
        return end;
    }

    private void finish(Chunk facts, int row, long results) {
        maxFanOut = Math.max(maxFanOut, results);
        if (results >= nextWarning) {
            LOG.warn(
                    "Star join {}: large fan-out of a fact, and of each other fact of its"
                            + " key: results={}, keys={}, heavy hitters of the build side={}",
                    join,
                    results,
                    keys(facts, row),
                    buildKeys.heavyHitters());
            nextWarning = 2 * results;
        }
    }

    /** The fact's key columns with their values. */
    private Map<String, Long> keys(Chunk facts, int row) {
        Map<String, Long> keys = new TreeMap<>();
        for (DimensionSpec dimension : spec.dimensions()) {
            int column = dimension.factKeyColumn();
            keys.put(spec.factSchema().column(column).name(), facts.getLong(column, row));
        }
        return keys;
    }
}
