// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.flink;

import io.github.gpujoin.benchmarks.workload.JoinedRow;

/** A result row as a POJO. */
final class JoinedRowTally implements Tally<JoinedRow> {

    private static final long serialVersionUID = 1L;

    @Override
    public int rows(JoinedRow result) {
        return 1;
    }

    @Override
    public long payloads(JoinedRow result, int firstRow, int count) {
        return result.probePayload + result.buildPayload;
    }
}
