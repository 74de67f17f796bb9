// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.bulk;

import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.bulk.ResultSides;

/**
 * Collects the addresses of matched tuples in batches, which it passes to a {@link ResultWriter}.
 * Not thread-safe.
 */
final class MatchSink {

    /** Rows of a batch. */
    static final int BATCH_ROWS = 1024;

    private final ResultWriter writer;
    private final long[] builds = new long[BATCH_ROWS];
    private final long[] probes = new long[BATCH_ROWS];
    private final long[] singles = new long[BATCH_ROWS];
    private JoinSide buildSide = JoinSide.RIGHT;
    private JoinSide singleSide = JoinSide.LEFT;
    private int pairCount;
    private int singleCount;

    MatchSink(ResultWriter writer) {
        this.writer = writer;
    }

    /** Sets the roles of the inputs. Everything must be flushed. */
    void open(JoinSide buildSide) {
        this.buildSide = buildSide;
    }

    /** Adds a match. */
    void pair(long build, long probe) throws InterruptedException {
        if (pairCount == BATCH_ROWS) {
            flushPairs();
        }
        builds[pairCount] = build;
        probes[pairCount++] = probe;
    }

    /** Adds a result with columns of one input only. */
    void single(JoinSide side, long tuple) throws InterruptedException {
        if (singleCount == BATCH_ROWS || side != singleSide) {
            flushSingles();
            singleSide = side;
        }
        singles[singleCount++] = tuple;
    }

    /** Passes all results on. Their tuples may be overwritten afterwards. */
    void flush() throws InterruptedException {
        flushPairs();
        flushSingles();
    }

    private void flushPairs() throws InterruptedException {
        if (pairCount > 0) {
            Blocks.checkInterrupt(); // a block of tuples may have any number of matches
            boolean isLeftBuild = buildSide == JoinSide.LEFT;
            writer.write(
                    ResultSides.BOTH,
                    isLeftBuild ? builds : probes,
                    isLeftBuild ? probes : builds,
                    pairCount);
            pairCount = 0;
        }
    }

    private void flushSingles() throws InterruptedException {
        if (singleCount > 0) {
            Blocks.checkInterrupt();
            writer.write(ResultSides.of(singleSide), singles, singles, singleCount);
            singleCount = 0;
        }
    }
}
