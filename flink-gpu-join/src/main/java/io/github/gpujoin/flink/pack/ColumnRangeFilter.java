// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.pack;

import io.github.gpujoin.core.engine.ValueRanges;
import io.github.gpujoin.core.layout.RowView;
import io.github.gpujoin.flink.record.RecordShape;
import java.io.Serializable;
import java.util.function.ToLongFunction;
import org.apache.flink.api.common.functions.AbstractRichFunction;
import org.apache.flink.api.common.functions.FilterFunction;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.util.FunctionUtils;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.jspecify.annotations.Nullable;

/**
 * Keeps rows whose integer column has a value in some ranges, and that another filter keeps.
 * Packers of batch mode evaluate what engines evaluate otherwise.
 */
public final class ColumnRangeFilter<R> extends AbstractRichFunction implements FilterFunction<R> {

    private static final long serialVersionUID = 1L;

    /** Creates a reader of the column in the process that filters. */
    @FunctionalInterface
    private interface Reader<R> extends Serializable {
        ToLongFunction<R> open();
    }

    private final Reader<R> column;
    private final ValueRanges values;
    private final @Nullable FilterFunction<R> other;
    private transient ToLongFunction<R> value;

    private ColumnRangeFilter(
            Reader<R> column, ValueRanges values, @Nullable FilterFunction<R> other) {
        this.column = column;
        this.values = values;
        this.other = other;
    }

    /**
     * Filters rows of chunks.
     *
     * @param other filter; null for none
     */
    public static FilterFunction<RowView> ofChunks(
            int column, ValueRanges values, @Nullable FilterFunction<RowView> other) {
        return new ColumnRangeFilter<>(() -> row -> row.getLong(column), values, other);
    }

    /**
     * Filters records.
     *
     * @param other filter; null for none
     */
    public static <R> FilterFunction<R> ofRecords(
            TypeInformation<R> type,
            String column,
            ValueRanges values,
            @Nullable FilterFunction<R> other) {
        return new ColumnRangeFilter<>(() -> RecordShape.of(type).integers(column), values, other);
    }

    @Override
    public void open(OpenContext context) throws Exception {
        value = column.open();
        if (other != null) {
            FunctionUtils.setFunctionRuntimeContext(other, getRuntimeContext());
            FunctionUtils.openFunction(other, context);
        }
    }

    @Override
    public boolean filter(R row) throws Exception {
        return values.contains(value.applyAsLong(row)) && (other == null || other.filter(row));
    }

    @Override
    public void close() throws Exception {
        if (other != null) {
            FunctionUtils.closeFunction(other);
        }
    }
}
