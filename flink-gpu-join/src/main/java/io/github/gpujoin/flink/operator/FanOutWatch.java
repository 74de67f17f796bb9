package io.github.gpujoin.flink.operator;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.layout.Chunk;
import java.util.Map;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts the results of facts that have more than a batch holds, and warns of a key that has very
 * many: a join that seems to stand still may be multiplying. Other facts cost two comparisons a
 * batch. Not thread-safe, but that the metric may be read at any time.
 */
final class FanOutWatch {

    /** Results of one fact from which on there is a warning; the next at twice as many. */
    static final long WARN_FAN_OUT = 10_000;

    private static final Logger LOG = LoggerFactory.getLogger(FanOutWatch.class);

    private final String join;
    private final JoinSpec spec;
    private final SampledKeys buildKeys;
    private long warnFanOut = WARN_FAN_OUT;
    private volatile long maxFanOut;

    /** The fact whose results go on in the next batch; null if there is none. */
    private Chunk chunk;

    private int row;
    private long results;

    /**
     * @param buildKeys sampled keys of the build side
     */
    FanOutWatch(String join, JoinSpec spec, SampledKeys buildKeys) {
        this.join = join;
        this.spec = spec;
        this.buildKeys = buildKeys;
    }

    /** Most results of one fact, among those that had more than one batch. */
    long maxFanOut() {
        return maxFanOut;
    }

    /** Takes the batches of an engine in order. */
    void accept(ResultBatch batch) {
        if (chunk != null) {
            results += resultsOf(batch, row);
            if (batch.chunk() != chunk || batch.completedRows() > row) {
                finish();
            }
        }
        int rows = batch.rowCount();
        if (chunk == null && rows > 0 && batch.probeRow(rows - 1) >= batch.completedRows()) {
            chunk = batch.chunk();
            row = batch.probeRow(rows - 1);
            results = rows - firstOf(batch, row);
        }
    }

    /** Results at the batch's start of the row that was begun. */
    private long resultsOf(ResultBatch batch, int begunRow) {
        int rows = batch.rowCount();
        if (batch.chunk() != chunk || rows == 0) {
            return 0;
        }
        if (batch.probeRow(rows - 1) == begunRow) {
            return rows;
        }
        int end = 0;
        while (batch.probeRow(end) == begunRow) {
            end++;
        }
        return end;
    }

    private static int firstOf(ResultBatch batch, int probeRow) {
        int first = batch.rowCount() - 1;
        while (first > 0 && batch.probeRow(first - 1) == probeRow) {
            first--;
        }
        return first;
    }

    private void finish() {
        maxFanOut = Math.max(maxFanOut, results);
        if (results >= warnFanOut) {
            LOG.warn(
                    "Star join {}: a fact has very many results, and so has each other fact of its"
                            + " key: results={}, keys={}, heaviest keys of the build side={}",
                    join,
                    results,
                    keys(),
                    buildKeys.heaviest());
            warnFanOut = 2 * results;
        }
        chunk = null;
    }

    /** The fact's key columns with their values. */
    private Map<String, Long> keys() {
        Map<String, Long> keys = new TreeMap<>();
        for (DimensionSpec dimension : spec.dimensions()) {
            int column = dimension.factKeyColumn();
            keys.put(spec.factSchema().column(column).name(), chunk.getLong(column, row));
        }
        return keys;
    }
}
