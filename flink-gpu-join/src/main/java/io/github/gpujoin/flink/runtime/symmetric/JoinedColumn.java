// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.symmetric;

import io.github.gpujoin.core.bulk.JoinSide;
import java.io.Serializable;

/**
 * A column of results.
 *
 * @param side whose column it is
 * @param column index in the chunks of the side
 * @param nullColumn index of an INT32 column of the side that is not 0 where the column is null,
 *     although it has a fixed width; {@value #NONE} if there is none
 */
public record JoinedColumn(JoinSide side, int column, int nullColumn) implements Serializable {

    /** The index of a column that a side does not have. */
    public static final int NONE = -1;
}
