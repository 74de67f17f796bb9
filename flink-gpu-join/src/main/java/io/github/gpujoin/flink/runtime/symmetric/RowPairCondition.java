// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.symmetric;

import java.io.Serializable;
import org.apache.flink.api.common.functions.RuntimeContext;
import org.apache.flink.table.data.RowData;

/** A condition that two rows with equal keys must meet to match. Called by one thread. */
public interface RowPairCondition extends AutoCloseable {

    /** Creates the condition of a subtask. Serialized with the job. */
    @FunctionalInterface
    interface Factory extends Serializable {

        /**
         * Opens a condition, which the join closes.
         *
         * @param context of the join's subtask
         */
        RowPairCondition open(RuntimeContext context) throws Exception;
    }

    /**
     * Returns whether the rows match. Must neither change nor keep them: the next call reuses both
     * objects.
     */
    boolean matches(RowData left, RowData right) throws Exception;

    @Override
    default void close() throws Exception {}
}
