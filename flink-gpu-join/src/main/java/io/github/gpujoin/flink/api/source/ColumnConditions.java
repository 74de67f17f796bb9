// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api.source;

import java.io.Serializable;
import java.util.List;
import org.apache.flink.annotation.PublicEvolving;

/**
 * The conditions of a join on the rows of a source, all of which a row must meet: filters of the
 * user, and from a moment during the run on the keys of complete dimensions. A reader may skip rows
 * that fail one, and should where that is cheaper than to decode them. Thread-safe.
 */
@PublicEvolving
public interface ColumnConditions extends Serializable {

    /** No conditions, ever. */
    ColumnConditions NONE = List::of;

    /**
     * Returns the conditions that are known now. The list is immutable, and another one as soon as
     * there are more of them; conditions are never removed.
     *
     * @return the conditions
     */
    List<ColumnCondition> current();

    /**
     * Tells whether the join is about to know more conditions. It joins no row before, so that a
     * source which waits reads fewer rows and delays no result. {@link ColumnarSource} waits before
     * it calls a reader.
     *
     * @return whether more conditions will be known soon
     */
    default boolean areExpected() {
        return false;
    }
}
