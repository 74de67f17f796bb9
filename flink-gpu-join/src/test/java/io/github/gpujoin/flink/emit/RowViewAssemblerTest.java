// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.engine.ResultLayout;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.flink.record.RecordField;
import java.util.List;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.binary.BinaryRowData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.runtime.typeutils.RowDataSerializer;
import org.apache.flink.table.types.logical.VarBinaryType;
import org.junit.jupiter.api.Test;

class RowViewAssemblerTest {

    private static final ChunkSchema FACTS = ChunkSchema.of(Column.of("key", ColumnType.INT64));
    private static final Column RECORD = Column.of("record", ColumnType.BYTES);
    private static final ChunkSchema DIMENSION =
            ChunkSchema.of(Column.of("id", ColumnType.INT64), RECORD);
    private static final JoinSpec SPEC =
            new JoinSpec(FACTS, List.of(new DimensionSpec("d", DIMENSION, 0, 0, JoinKind.INNER)));
    private static final InternalTypeInfo<RowData> TYPE =
            InternalTypeInfo.ofFields(new VarBinaryType(VarBinaryType.MAX_LENGTH));

    private static Chunk fact() {
        ChunkBuilder builder = new ChunkBuilder(FACTS, 1 << 10);
        builder.putLong(0, 1);
        builder.endRow();
        return builder.seal(ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, 0, 0);
    }

    /** A row's variable-width bytes: its length, then those of the column and of the row. */
    private static void write(byte[] value, Region memory) {
        BinaryRowData row =
                new RowDataSerializer(TYPE.toRowType()).toBinaryRow(GenericRowData.of(value));
        int lengthBytes = row.getSizeInBytes();
        byte[] bytes = new byte[lengthBytes];
        row.getSegments()[0].get(row.getOffset(), bytes, 0, lengthBytes);
        Memory.putInt(memory.address(), 8 + lengthBytes);
        Memory.putInt(memory.address() + 4, 4 + lengthBytes);
        Memory.putInt(memory.address() + 8, Integer.reverseBytes(lengthBytes));
        Memory.copy(bytes, Memory.BYTES, null, memory.address() + 12, lengthBytes);
    }

    @Test
    void shouldReleaseTheCopyOfALargeRowAtTheNextSmallOne() {
        ResultLayout layout = new ResultLayout(SPEC, 1);
        try (Region results = Region.allocateZeroed(layout.lengthBytes());
                Region memory = Region.allocateZeroed(5 << 20)) {
            ResultBatch batch =
                    new ResultBatch(layout, results.address()) {
                        {
                            set(fact(), 1, 1);
                        }
                    };
            Memory.putLong(batch.variableWidthAddress(0), memory.address());
            RowViewAssembler<RowData> assembler =
                    new RowViewAssembler<>(
                            new FieldReader(
                                    SPEC,
                                    new OutputField("record", 0, 1, RecordField.ofColumn(RECORD))),
                            TYPE);
            assembler.bind(batch);
            int copyBytes = 0;
            for (int lengthBytes : new int[] {10, 4 << 20, 3 << 20, 20, 4 << 20, 5000}) {
                byte[] value = new byte[lengthBytes];
                value[lengthBytes - 1] = 1;
                write(value, memory);

                BinaryRowData row = (BinaryRowData) assembler.assemble(0, 0);

                assertThat(row.getBinary(0)).isEqualTo(value);
                copyBytes = row.getSegments()[0].size();
                assertThat(copyBytes)
                        .as("bytes of the copy of a row of %d", lengthBytes)
                        .isGreaterThanOrEqualTo(lengthBytes)
                        .isLessThanOrEqualTo(Math.max(1 << 20, 4 * row.getSizeInBytes() + 3));
            }
            assertThat(copyBytes).isLessThan(1 << 20);
        }
    }
}
