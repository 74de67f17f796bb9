// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.plan;

import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.DataTypeQueryable;

/** {@link UncopiedType} of rows of tables, whose planner asks it for their data type. */
final class UncopiedRows<T> extends UncopiedType<T> implements DataTypeQueryable {

    private static final long serialVersionUID = 1L;

    private UncopiedRows(TypeInformation<T> type) {
        super(type);
    }

    /** Declared to return a type that is always there, so that callers load without tables. */
    static <T> TypeInformation<T> of(TypeInformation<T> type) {
        return new UncopiedRows<>(type);
    }

    @Override
    public DataType getDataType() {
        return ((DataTypeQueryable) type()).getDataType();
    }
}
