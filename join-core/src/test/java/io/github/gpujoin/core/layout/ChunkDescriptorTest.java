// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.layout;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.layout.testing.ChunkSamples;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The constants match the drawing, without gaps or overlaps. */
class ChunkDescriptorTest {

    private record HeaderField(String constant, int lengthBytes) {}

    /** The fields as drawn, row by row. */
    private static final List<HeaderField> DRAWING =
            List.of(
                    new HeaderField("MAGIC_OFFSET", 4),
                    new HeaderField("VERSION_OFFSET", 2),
                    new HeaderField("HEADER_LENGTH_OFFSET", 2),
                    new HeaderField("LENGTH_OFFSET", 4),
                    new HeaderField("ROW_COUNT_OFFSET", 4),
                    new HeaderField("SCHEMA_OFFSET", 4),
                    new HeaderField("DIMENSION_OFFSET", 2),
                    new HeaderField("FLAGS_OFFSET", 2),
                    new HeaderField("PARTITION_OFFSET", 4),
                    new HeaderField("VARIABLE_WIDTH_OFFSET", 4),
                    new HeaderField("EPOCH_OFFSET", 8),
                    new HeaderField("SEQUENCE_OFFSET", 8),
                    new HeaderField("CHECKSUM_OFFSET", 8),
                    new HeaderField("RESERVED_OFFSET", 8));

    private static int constant(String name) throws ReflectiveOperationException {
        return ChunkDescriptor.class.getField(name).getInt(null);
    }

    @Test
    void shouldPlaceFieldAfterFieldAndFillTheHeader() throws ReflectiveOperationException {
        int next = 0;
        for (HeaderField field : DRAWING) {
            assertThat(constant(field.constant())).as(field.constant()).isEqualTo(next);
            assertThat(next % field.lengthBytes()).as("alignment of %s", field).isZero();
            next += field.lengthBytes();
        }
        assertThat(next).isEqualTo(ChunkDescriptor.HEADER_BYTES);
    }

    @Test
    void shouldDrawEveryField() {
        List<String> declared = new ArrayList<>();
        for (Field field : ChunkDescriptor.class.getFields()) {
            if (field.getName().endsWith("_OFFSET")) {
                declared.add(field.getName());
            }
        }
        assertThat(declared)
                .containsExactlyInAnyOrderElementsOf(
                        DRAWING.stream().map(HeaderField::constant).toList());
    }

    @Test
    void shouldStartWithReadableMagic() {
        byte[] bytes = ChunkSamples.chunk(0, 1).bytes();
        assertThat(new String(Arrays.copyOf(bytes, 4), StandardCharsets.US_ASCII))
                .isEqualTo("GJC1");
    }

    @Test
    void shouldAlignColumnsToCacheLinesAndChunksToWords() {
        for (int offset = 0; offset < 300; offset++) {
            assertThat(ChunkDescriptor.alignColumn(offset) % 64).isZero();
            assertThat(ChunkDescriptor.alignColumn(offset) - offset).isBetween(0L, 63L);
            assertThat(ChunkDescriptor.alignChunk(offset) % 8).isZero();
            assertThat(ChunkDescriptor.alignChunk(offset) - offset).isBetween(0, 7);
        }
    }
}
