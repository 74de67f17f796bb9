// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import io.github.gpujoin.core.engine.JoinKind;
import java.io.Serializable;

/**
 * A dimension that an engine compares with the facts by hashes of their keys, so that each pair it
 * finds is compared once more. Travels with the job.
 *
 * @param kind of the join; the engine is asked for its {@linkplain JoinKind#withAllMatches
 *     candidates}
 * @param factBytes the facts' column of their key's bytes
 * @param bytes the dimension's
 * @param row the dimension's fixed INT64 column of a number that each row has for itself; of no
 *     meaning for an inner join
 */
public record HashedDimension(
        int dimension, JoinKind kind, OutputField factBytes, OutputField bytes, int row)
        implements Serializable {

    /** Whether each row of the dimension is told apart from others. */
    public static boolean numbersRows(JoinKind kind) {
        return kind != JoinKind.INNER;
    }
}
