// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.layout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import io.github.gpujoin.core.layout.testing.ChunkSamples;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

class ChunkSchemaTest {

    static final List<ChunkSchema> SCHEMAS = ChunkSamples.SCHEMAS;

    private static ChunkSchema serialized(ChunkSchema schema) throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(schema);
        }
        return deserialized(bytes.toByteArray());
    }

    private static ChunkSchema deserialized(byte[] bytes)
            throws IOException, ClassNotFoundException {
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes))) {
            return (ChunkSchema) in.readObject();
        }
    }

    @ParameterizedTest
    @FieldSource("SCHEMAS")
    void shouldArriveComplete(ChunkSchema schema) throws Exception {
        ChunkSchema arrived = serialized(schema);
        assertThat(arrived).isEqualTo(schema).hasSameHashCodeAs(schema).hasToString("" + schema);
        assertThat(arrived.fingerprint()).isEqualTo(schema.fingerprint());
        assertThat(arrived.fixedRowBytes()).isEqualTo(schema.fixedRowBytes());
        assertThat(arrived.variableWidthColumnCount()).isEqualTo(schema.variableWidthColumnCount());
        assertThat(arrived.offsets(100)).isEqualTo(schema.offsets(100));
        for (int i = 0; i < schema.size(); i++) {
            assertThat(arrived.indexOf(schema.column(i).name())).isEqualTo(i);
        }
        Chunk chunk = ChunkSamples.chunk(SCHEMAS.indexOf(schema), 9);
        assertThat(Chunk.wrap(arrived, chunk.bytes()).rowCount()).isEqualTo(9);
    }

    @ParameterizedTest
    @FieldSource("SCHEMAS")
    void shouldFindColumnsByName(ChunkSchema schema) {
        for (int i = 0; i < schema.size(); i++) {
            assertThat(schema.indexOf(schema.column(i).name())).isEqualTo(i);
            assertThat(schema.require(schema.column(i).name())).isEqualTo(i);
        }
        assertThat(schema.indexOf("no such")).isEqualTo(-1);
    }

    @Test
    void shouldReportTheMissingColumnAndAllColumns() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> SCHEMAS.get(1).require("x"))
                .withMessage("Unknown column: name=x, columns=[i, l, f, d]");
    }

    @Test
    void shouldRejectTwoColumnsWithTheSameName() {
        Column column = Column.of("a", ColumnType.INT32);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ChunkSchema.of(column, Column.of("a", ColumnType.STRING)))
                .withMessage("Two columns have the same name: name=a, schema=(a INT32, a STRING)");
    }

    @Test
    void shouldDistinguishSchemasByNameTypeNullabilityAndOrder() {
        ChunkSchema schema =
                ChunkSchema.of(Column.of("a", ColumnType.INT32), Column.of("b", ColumnType.INT64));
        List<ChunkSchema> others =
                List.of(
                        ChunkSchema.of(
                                Column.of("b", ColumnType.INT64), Column.of("a", ColumnType.INT32)),
                        ChunkSchema.of(
                                Column.of("a", ColumnType.INT32), Column.of("c", ColumnType.INT64)),
                        ChunkSchema.of(
                                Column.of("a", ColumnType.INT32),
                                Column.of("b", ColumnType.FLOAT64)),
                        ChunkSchema.of(
                                Column.of("a", ColumnType.INT32),
                                Column.nullable("b", ColumnType.INT64)),
                        ChunkSchema.of(Column.of("a", ColumnType.INT32)));
        for (ChunkSchema other : others) {
            assertThat(other).isNotEqualTo(schema);
            assertThat(other.fingerprint()).isNotEqualTo(schema.fingerprint());
        }
    }

    @Test
    void shouldNeverChangeItsFingerprint() {
        assertThat(SCHEMAS.get(0).fingerprint()).isEqualTo("(key INT64)".hashCode());
        assertThat(ChunkSchema.of(Column.nullable("a", ColumnType.STRING)).fingerprint())
                .isEqualTo("(a STRING NULL)".hashCode());
    }

    @Test
    void shouldPlaceColumnsAtCacheLinesOneAfterTheOther() {
        // text, int32 key, float64 or null, int64 measure, raw bytes
        assertThat(SCHEMAS.get(4).offsets(0)).containsExactly(-1, 64, -1, 64, -1, 64);
        assertThat(SCHEMAS.get(4).offsets(1)).containsExactly(-1, 64, -1, 128, -1, 192);
        assertThat(SCHEMAS.get(4).offsets(16)).containsExactly(-1, 64, -1, 128, -1, 256);
        assertThat(SCHEMAS.get(4).offsets(17)).containsExactly(-1, 64, -1, 192, -1, 384);
        assertThat(SCHEMAS.get(4).fixedRowBytes()).isEqualTo(12);
        assertThat(SCHEMAS.get(4).variableWidthColumnCount()).isEqualTo(3);
    }

    @Test
    void shouldRejectChunksBeyondTwoGiB() {
        int most = (Integer.MAX_VALUE - 63 - 64) / 8;
        assertThat(SCHEMAS.get(0).offsets(most)[1]).isPositive();
        assertThatExceptionOfType(ChunkFormatException.class)
                .isThrownBy(() -> SCHEMAS.get(0).offsets(most + 8))
                .withMessageStartingWith("Chunk exceeds 2 GiB: lengthBytes=2147483648");
    }

    @Test
    void shouldRejectAColumnWithoutNameOrType() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Column.of("", ColumnType.INT32))
                .withMessage("Column name is empty: type=INT32");
        assertThatNullPointerException().isThrownBy(() -> Column.of(null, ColumnType.INT32));
        assertThatNullPointerException().isThrownBy(() -> Column.of("a", null));
    }

    @Test
    void shouldStoreOnlyFixedWidthsWithoutNullsAsArrays() {
        for (ColumnType type : ColumnType.values()) {
            assertThat(Column.of("a", type).isFixed()).isEqualTo(type.isFixedWidth());
            assertThat(Column.nullable("a", type).isFixed()).isFalse();
        }
    }
}
