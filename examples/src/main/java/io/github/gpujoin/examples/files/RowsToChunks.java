// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.files;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.examples.tbl.TblColumn;
import io.github.gpujoin.examples.tbl.TblTable;
import java.math.BigDecimal;
import java.time.LocalDate;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.LogicalTypeFamily;
import org.apache.flink.table.types.logical.LogicalTypeRoot;
import org.apache.flink.table.types.logical.RowType;

/**
 * Packs rows of a benchmark table into chunks. Columns have the types of the table, or are text
 * that parses as these types. The operator emits a chunk when it is full, before a barrier, and
 * before a watermark. The final watermark flushes the last chunk.
 */
final class RowsToChunks extends AbstractStreamOperator<Chunk>
        implements OneInputStreamOperator<RowData, Chunk> {

    private static final long serialVersionUID = 1L;
    private static final int CHUNK_BYTES = 256 << 10;

    private final ChunkSchema schema;
    private final TblColumn[] columns;
    private final LogicalType[] types;
    private final int[] positions;

    private transient RowData.FieldGetter[] getters;
    private transient ChunkBuilder builder;

    /**
     * @param schema a projection of the table
     * @param rows columns of the rows; must contain those of the schema
     */
    RowsToChunks(TblTable table, ChunkSchema schema, RowType rows) {
        int count = schema.size();
        this.schema = schema;
        this.columns = new TblColumn[count];
        this.types = new LogicalType[count];
        this.positions = new int[count];
        for (int i = 0; i < count; i++) {
            String name = schema.column(i).name();
            columns[i] =
                    table.columns().stream().filter(c -> c.name().equals(name)).findAny().get();
            positions[i] = rows.getFieldIndex(name);
            if (positions[i] < 0) {
                throw new IllegalArgumentException(
                        "Column missing in the file. Delete the file to convert it again: table="
                                + table.name()
                                + ", column="
                                + name
                                + ", columns="
                                + rows.getFieldNames());
            }
            types[i] = rows.getTypeAt(positions[i]);
        }
    }

    @Override
    public void open() throws Exception {
        super.open();
        builder = new ChunkBuilder(schema, CHUNK_BYTES);
        getters = new RowData.FieldGetter[positions.length];
        for (int i = 0; i < getters.length; i++) {
            getters[i] = RowData.createFieldGetter(types[i], positions[i]);
        }
    }

    @Override
    public void processElement(StreamRecord<RowData> element) {
        for (int i = 0; i < getters.length; i++) {
            put(i, getters[i].getFieldOrNull(element.getValue()));
        }
        builder.endRow();
        if (builder.isFull()) {
            emit();
        }
    }

    private void put(int i, Object value) {
        Column column = schema.column(i);
        if (value == null && !column.nullable()) {
            throw new IllegalArgumentException(
                    "Null in a column that is not nullable. Correct the file: column="
                            + column.name());
        }
        if (value == null) {
            builder.addNull();
        } else if (!column.type().isInteger()) {
            builder.addString(value.toString());
        } else {
            putInteger(i, integer(i, value));
        }
    }

    private void putInteger(int i, long value) {
        boolean narrow = schema.column(i).type().widthBytes() == Integer.BYTES;
        if (schema.column(i).isFixed()) {
            if (narrow) {
                builder.putInt(i, Math.toIntExact(value));
            } else {
                builder.putLong(i, value);
            }
        } else if (narrow) {
            builder.addInt(Math.toIntExact(value));
        } else {
            builder.addLong(value);
        }
    }

    /** Returns the integer that represents a value in a chunk. */
    private long integer(int i, Object value) {
        boolean isText = types[i].is(LogicalTypeFamily.CHARACTER_STRING);
        return switch (columns[i].type()) {
            case HUNDREDTHS -> {
                BigDecimal amount =
                        value instanceof DecimalData decimal
                                ? decimal.toBigDecimal()
                                : new BigDecimal(value.toString());
                yield amount.movePointRight(TableColumns.SCALE).longValueExact();
            }
            case DATE ->
                    types[i].is(LogicalTypeRoot.DATE)
                            ? (Integer) value
                            : LocalDate.parse(value.toString()).toEpochDay();
            default -> isText ? Long.parseLong(value.toString()) : ((Number) value).longValue();
        };
    }

    @Override
    public void prepareSnapshotPreBarrier(long checkpointId) {
        emit();
    }

    @Override
    public void processWatermark(Watermark watermark) throws Exception {
        emit();
        super.processWatermark(watermark);
    }

    private void emit() {
        if (!builder.isEmpty()) {
            Chunk chunk = builder.seal(ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, 0, 0);
            output.collect(new StreamRecord<>(chunk));
        }
    }
}
