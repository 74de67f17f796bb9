// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.bulk;

import io.github.gpujoin.core.bulk.BulkResult;
import io.github.gpujoin.core.bulk.ResultSides;

/** Counts result rows. Not thread-safe. */
final class CountWriter implements ResultWriter {

    private final Receiver receiver;
    private long rows;

    CountWriter(Receiver receiver) {
        this.receiver = receiver;
    }

    @Override
    public void write(ResultSides sides, long[] left, long[] right, int count) {
        rows += count;
    }

    @Override
    public void finish() throws InterruptedException {
        receiver.receive(new BulkResult.Count(rows));
    }
}
