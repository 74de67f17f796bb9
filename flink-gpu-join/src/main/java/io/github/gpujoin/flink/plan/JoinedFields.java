// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.plan;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.flink.table.types.logical.RowType;

/** The columns of the rows that a join returns. */
final class JoinedFields {

    private JoinedFields() {}

    /**
     * Returns the columns of all inputs, in order. Those of equal names are numbered, as in Flink
     * SQL.
     *
     * @param mayMiss whether an input may have no row in a result
     */
    static RowType of(List<RowType> inputs, List<Boolean> mayMiss) {
        List<RowType.RowField> fields = new ArrayList<>();
        Set<String> names = new HashSet<>();
        for (int i = 0; i < inputs.size(); i++) {
            for (RowType.RowField field : inputs.get(i).getFields()) {
                String name = field.getName();
                for (int number = 0; !names.add(name); number++) {
                    name = field.getName() + number;
                }
                boolean isNullable = field.getType().isNullable() || mayMiss.get(i);
                fields.add(new RowType.RowField(name, field.getType().copy(isNullable)));
            }
        }
        return new RowType(false, fields);
    }
}
