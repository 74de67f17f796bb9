// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.files;

import java.io.IOException;
import java.nio.channels.Channels;
import java.nio.file.Path;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.DateDayVector;
import org.apache.arrow.vector.DecimalVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.ipc.ArrowFileWriter;
import org.apache.arrow.vector.types.DateUnit;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.arrow.vector.types.pojo.Schema;
import org.apache.flink.api.common.serialization.BulkWriter;
import org.apache.flink.core.fs.FSDataOutputStream;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.logical.DecimalType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;

/** Arrow IPC files of the tables of a benchmark, whose types are those of {@link TableColumns}. */
final class ArrowTableFormat implements TableFileFormat {

    private static final int BATCH_ROWS = 32 << 10;

    /** Assumed size of a row, to estimate the row count from the file size. */
    private static final int GUESSED_ROW_BYTES = 120;

    private static final ArrowType DATE = new ArrowType.Date(DateUnit.DAY);

    @Override
    public long estimateRows(Path file) {
        return TableFileFormat.guessRows(file, GUESSED_ROW_BYTES);
    }

    @Override
    public BulkWriter<RowData> writer(RowType columns, FSDataOutputStream out) throws IOException {
        return new Batches(columns, out);
    }

    private static final class Batches implements BulkWriter<RowData> {
        private final RowType columns;
        private final BufferAllocator allocator = new RootAllocator();
        private final VectorSchemaRoot root;
        private final ArrowFileWriter writer;
        private int rows;

        Batches(RowType columns, FSDataOutputStream out) throws IOException {
            this.columns = columns;
            Schema schema =
                    new Schema(
                            columns.getFields().stream()
                                    .map(field -> field(field.getName(), field.getType()))
                                    .toList());
            this.root = VectorSchemaRoot.create(schema, allocator);
            this.writer = new ArrowFileWriter(root, null, Channels.newChannel(out));
            writer.start();
        }

        private static Field field(String name, LogicalType type) {
            ArrowType arrow =
                    switch (type.getTypeRoot()) {
                        case INTEGER -> new ArrowType.Int(Integer.SIZE, true);
                        case BIGINT -> new ArrowType.Int(Long.SIZE, true);
                        case DATE -> DATE;
                        case VARCHAR -> ArrowType.Utf8.INSTANCE;
                        case DECIMAL -> {
                            DecimalType decimal = (DecimalType) type;
                            yield new ArrowType.Decimal(
                                    decimal.getPrecision(), decimal.getScale(), 128);
                        }
                        default -> throw new IllegalArgumentException("Column type: " + type);
                    };
            return new Field(name, new FieldType(type.isNullable(), arrow, null), null);
        }

        @Override
        public void addElement(RowData row) throws IOException {
            for (int i = 0; i < columns.getFieldCount(); i++) {
                FieldVector vector = root.getVector(i);
                if (row.isNullAt(i)) {
                    vector.setNull(rows);
                } else {
                    set(vector, i, row);
                }
            }
            if (++rows == BATCH_ROWS) {
                flush();
            }
        }

        private void set(FieldVector vector, int i, RowData row) {
            if (vector instanceof IntVector integers) {
                integers.setSafe(rows, row.getInt(i));
            } else if (vector instanceof DateDayVector days) {
                days.setSafe(rows, row.getInt(i));
            } else if (vector instanceof BigIntVector longs) {
                longs.setSafe(rows, row.getLong(i));
            } else if (vector instanceof VarCharVector text) {
                text.setSafe(rows, row.getString(i).toBytes());
            } else {
                DecimalType type = (DecimalType) columns.getTypeAt(i);
                ((DecimalVector) vector)
                        .setSafe(
                                rows,
                                row.getDecimal(i, type.getPrecision(), type.getScale())
                                        .toBigDecimal());
            }
        }

        @Override
        public void flush() throws IOException {
            if (rows > 0) {
                root.setRowCount(rows);
                writer.writeBatch();
                root.clear();
                rows = 0;
            }
        }

        /** Ends the file, and releases the vectors; the stream stays open. */
        @Override
        public void finish() throws IOException {
            flush();
            writer.end();
            root.close();
            allocator.close();
        }
    }
}
