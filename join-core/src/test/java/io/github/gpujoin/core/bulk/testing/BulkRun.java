// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.bulk.testing;

import io.github.gpujoin.core.bulk.BulkJoin;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.layout.Chunk;
import java.util.Iterator;
import java.util.List;
import java.util.Random;

/** Runs of bulk joins. */
public final class BulkRun {

    private BulkRun() {}

    /**
     * Submits all chunks, those of both inputs mixed by the seed, and returns the answer.
     *
     * @param join LOADING; the caller closes it
     */
    public static BulkAnswer join(BulkJoin join, List<Chunk> left, List<Chunk> right, long seed)
            throws InterruptedException {
        submit(join, left, right, seed);
        join.finish();
        BulkAnswer answer = new BulkAnswer();
        join.drain(result -> answer.add(join.spec(), result));
        return answer;
    }

    /** Submits all chunks, those of both inputs mixed by the seed. */
    public static void submit(BulkJoin join, List<Chunk> left, List<Chunk> right, long seed)
            throws InterruptedException {
        Random random = new Random(seed);
        Iterator<Chunk> lefts = left.iterator();
        Iterator<Chunk> rights = right.iterator();
        while (lefts.hasNext() || rights.hasNext()) {
            boolean isLeft = lefts.hasNext() && (!rights.hasNext() || random.nextBoolean());
            if (isLeft) {
                join.submit(JoinSide.LEFT, lefts.next());
            } else {
                join.submit(JoinSide.RIGHT, rights.next());
            }
        }
    }
}
