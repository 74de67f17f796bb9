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
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class FieldReaderTest {

    private static final ChunkSchema FACTS = ChunkSchema.of(Column.of("key", ColumnType.INT64));
    private static final Column NAME = Column.of("name", ColumnType.STRING);

    private static JoinSpec spec(int changeColumn) {
        ChunkSchema dimension =
                ChunkSchema.of(
                        Column.of("id", ColumnType.INT64),
                        Column.of("change", ColumnType.INT32),
                        NAME);
        return new JoinSpec(
                FACTS,
                java.util.List.of(
                        new DimensionSpec("d", dimension, 0, 0, JoinKind.INNER, changeColumn)));
    }

    private static Chunk fact() {
        ChunkBuilder builder = new ChunkBuilder(FACTS, 1 << 10);
        builder.putLong(0, 1);
        builder.endRow();
        return builder.seal(ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, 0, 0);
    }

    /** A row's variable-width bytes: its length, then that of the text, then the text. */
    private static void write(String text, Region row) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        Memory.putInt(row.address(), Integer.BYTES + bytes.length);
        Memory.putInt(row.address() + 4, bytes.length);
        Memory.copy(bytes, Memory.BYTES, null, row.address() + 8, bytes.length);
    }

    /** The table of a changelog frees the bytes of replaced rows, and other rows get them. */
    @Test
    void shouldReadTheTextThatIsNowAtTheAddressOfAChangelogsRow() throws Exception {
        JoinSpec spec = spec(1);
        ResultLayout layout = new ResultLayout(spec, 1);
        try (Region memory = Region.allocateZeroed(layout.lengthBytes());
                Region row = Region.allocateZeroed(512)) {
            ResultBatch batch =
                    new ResultBatch(layout, memory.address()) {
                        {
                            set(fact(), 1, 1);
                        }
                    };
            Memory.putLong(batch.variableWidthAddress(0), row.address());
            FieldReader reader =
                    new FieldReader(
                            spec, new OutputField("name", 0, 2, RecordField.ofColumn(NAME)));
            for (String text : new String[] {"a".repeat(40), "b".repeat(40), "c".repeat(90)}) {
                write(text, row);
                reader.bind(batch);
                assertThat(reader.value(0, 0)).isEqualTo(text);
            }
        }
    }
}
