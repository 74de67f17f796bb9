// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import org.apache.flink.api.common.functions.AbstractRichFunction;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.generated.GeneratedJoinCondition;
import org.apache.flink.table.runtime.generated.JoinCondition;

/** Condition of Flink's join operators, which evaluate it for rows of equal keys. */
final class NoFurtherCondition extends AbstractRichFunction implements JoinCondition {
    private static final long serialVersionUID = 1L;

    /** Serialized with the operator. */
    static final class Generated extends GeneratedJoinCondition {
        private static final long serialVersionUID = 1L;

        Generated() {
            super("none", "", new Object[0]);
        }

        @Override
        public JoinCondition newInstance(ClassLoader classLoader) {
            return new NoFurtherCondition();
        }
    }

    @Override
    public boolean apply(RowData fact, RowData price) {
        return true;
    }
}
