// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import io.github.gpujoin.flink.record.RecordField;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.typeutils.RowTypeInfo;

/**
 * The fields of a grouped join's result: the group's columns, as they came, then its aggregates,
 * longs. Immutable.
 *
 * @param columns what stood in each group column
 * @param columnNames in the result
 * @param aggregateNames in the result
 */
public record GroupFields(
        List<RecordField> columns, List<String> columnNames, List<String> aggregateNames)
        implements Serializable {

    public GroupFields {
        columns = List.copyOf(columns);
        columnNames = List.copyOf(columnNames);
        aggregateNames = List.copyOf(aggregateNames);
        List<String> names = new ArrayList<>(columnNames);
        names.addAll(aggregateNames);
        if (names.stream().distinct().count() < names.size()) {
            throw new IllegalArgumentException(
                    "Two result columns have the same name: names=%s. Rename one of them."
                            .formatted(names));
        }
    }

    /** Type of the groups' columns alone: the key by which sums are added up. */
    public RowTypeInfo keyType() {
        return type(false);
    }

    /** Type of result Rows. */
    public RowTypeInfo rowType() {
        return type(true);
    }

    private RowTypeInfo type(boolean withAggregates) {
        List<TypeInformation<?>> types = new ArrayList<>();
        columns.forEach(field -> types.add(field.type()));
        List<String> names = new ArrayList<>(columnNames);
        if (withAggregates) {
            aggregateNames.forEach(name -> types.add(Types.LONG));
            names.addAll(aggregateNames);
        }
        return new RowTypeInfo(
                types.toArray(TypeInformation<?>[]::new), names.toArray(String[]::new));
    }

    /** Of each field of result Rows. */
    public LinkedHashMap<String, Integer> positionByName() {
        LinkedHashMap<String, Integer> positions = new LinkedHashMap<>();
        for (String name : rowType().getFieldNames()) {
            positions.put(name, positions.size());
        }
        return positions;
    }
}
