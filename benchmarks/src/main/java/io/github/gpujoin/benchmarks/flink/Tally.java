// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.flink;

import java.io.Serializable;

/** Reads the rows of a result record. */
interface Tally<R> extends Serializable {

    int rows(R result);

    /** Sum of the build and probe payloads of adjacent rows. */
    long payloads(R result, int firstRow, int count);
}
