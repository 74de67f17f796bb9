// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.flink.pack.AllKinds;
import io.github.gpujoin.flink.record.KeyLayout.Nulls;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.types.Row;
import org.apache.flink.util.InstantiationUtil;
import org.junit.jupiter.api.Test;

class RecordLayoutTest {

    private static final TypeInformation<AllKinds> POJO = TypeInformation.of(AllKinds.class);
    private static final TypeInformation<Row> ROW =
            Types.ROW_NAMED(
                    new String[] {"id", "name", "price", "when"},
                    Types.LONG,
                    Types.STRING,
                    Types.DOUBLE,
                    Types.INSTANT);

    private static <T> RecordLayout<T> layout(
            TypeInformation<T> type, List<String> columns, String... keys) {
        return RecordLayout.of(type, columns, List.of(keys), new SerializerConfigImpl());
    }

    @Test
    void shouldPutPrimitiveFieldsIntoFixedColumns() {
        assertThat(
                        layout(
                                        POJO,
                                        List.of(
                                                "anInt",
                                                "aLong",
                                                "aFloat",
                                                "aDouble",
                                                "aShort",
                                                "aByte",
                                                "aChar",
                                                "aBoolean",
                                                "bean"))
                                .schema())
                .isEqualTo(
                        ChunkSchema.of(
                                Column.of("anInt", ColumnType.INT32),
                                Column.of("aLong", ColumnType.INT64),
                                Column.of("aFloat", ColumnType.FLOAT32),
                                Column.of("aDouble", ColumnType.FLOAT64),
                                Column.of("aShort", ColumnType.INT16),
                                Column.of("aByte", ColumnType.INT8),
                                Column.of("aChar", ColumnType.INT32),
                                Column.of("aBoolean", ColumnType.INT32),
                                Column.of("bean", ColumnType.INT64)));
    }

    @Test
    void shouldCarryWhatMayBeNull() {
        assertThat(layout(POJO, List.of("boxedInt", "text", "bytes", "instant", "point")).schema())
                .isEqualTo(
                        ChunkSchema.of(
                                Column.nullable("boxedInt", ColumnType.INT32),
                                Column.nullable("text", ColumnType.STRING),
                                Column.nullable("bytes", ColumnType.BYTES),
                                Column.nullable("instant", ColumnType.BYTES),
                                Column.nullable("point", ColumnType.BYTES)));
    }

    @Test
    void shouldFixKeysEvenWhereTheFieldMayBeNull() {
        assertThat(layout(ROW, List.of("name", "id", "price"), "id").withTimestamp().schema())
                .isEqualTo(
                        ChunkSchema.of(
                                Column.nullable("name", ColumnType.STRING),
                                Column.of("id", ColumnType.INT64),
                                Column.nullable("price", ColumnType.FLOAT64),
                                Column.of(RecordLayout.TIMESTAMP, ColumnType.INT64)));
    }

    @Test
    void shouldReadTuplesByFieldName() {
        assertThat(layout(Types.TUPLE(Types.INT, Types.STRING), List.of("f1", "f0"), "f0").schema())
                .isEqualTo(
                        ChunkSchema.of(
                                Column.nullable("f1", ColumnType.STRING),
                                Column.of("f0", ColumnType.INT32)));
    }

    @Test
    void shouldTakeAllFieldsOfAWholePojo() {
        RecordLayout<AllKinds> layout =
                RecordLayout.whole(
                        POJO,
                        SelectedKey.of(r -> r.aLong, Types.LONG, Nulls.MATCH_NOTHING),
                        new SerializerConfigImpl());

        List<String> names = new ArrayList<>(List.of(RecordLayout.KEY));
        names.addAll(RecordShape.of(POJO).names());
        assertThat(layout.fields()).extracting(RecordField::name).isEqualTo(names);
        assertThat(layout.schema().column(0))
                .isEqualTo(Column.of(RecordLayout.KEY, ColumnType.INT64));
        assertThat(layout.isWhole()).isTrue();
    }

    @Test
    void shouldSerialiseAWholeRecordThatIsNoPojo() {
        assertThat(
                        RecordLayout.whole(
                                        ROW,
                                        SelectedKey.of(
                                                r -> r.<Integer>getFieldAs(0),
                                                Types.INT,
                                                Nulls.MATCH_NOTHING),
                                        new SerializerConfigImpl())
                                .schema())
                .isEqualTo(
                        ChunkSchema.of(
                                Column.of(RecordLayout.KEY, ColumnType.INT32),
                                Column.nullable(RecordLayout.RECORD, ColumnType.BYTES)));
    }

    @Test
    void shouldRefuseAKeyThatIsNoInteger() {
        assertThatThrownBy(() -> layout(ROW, List.of("name"), "name"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("Unsupported type of a join key: field=name, type=String");
        assertThatThrownBy(() -> layout(POJO, List.of("aChar"), "aChar"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("field=aChar");
        assertThatThrownBy(
                        () ->
                                RecordLayout.whole(
                                        POJO,
                                        SelectedKey.of(
                                                r -> List.of(r.anInt),
                                                Types.LIST(Types.INT),
                                                Nulls.MATCH_NOTHING),
                                        new SerializerConfigImpl()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith(
                        "Unsupported type in a join key: part=List<Integer>, key=List<Integer>.\nUse numbers,");
    }

    @Test
    void shouldNameTheFieldsThereAreWhereOneIsMissing() {
        assertThatThrownBy(() -> layout(ROW, List.of("id", "nam")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("Unknown field: name=nam, fields=[id, name, price, when]");
    }

    @Test
    void shouldRefuseAKeyThatIsNotWanted() {
        assertThatThrownBy(() -> layout(ROW, List.of("name"), "id"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "Join key is not selected: key=id, columns=[name]. Add it to the columns.");
    }

    @Test
    void shouldRefuseNamesThatTheJoinUses() {
        TypeInformation<Row> type =
                Types.ROW_NAMED(new String[] {RecordLayout.TIMESTAMP}, Types.LONG);

        assertThatThrownBy(() -> layout(type, List.of(RecordLayout.TIMESTAMP)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageEndingWith("name=$timestamp. Rename the column.");
    }

    @Test
    void shouldRefuseATypeWithoutFields() {
        assertThatThrownBy(() -> layout(Types.STRING, List.of("length")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "Unsupported record type: String.\nUse a POJO, Row, tuple, RowData or Avro record.");
    }

    @Test
    void shouldTravelWithTheJob() throws Exception {
        RecordLayout<AllKinds> layout =
                layout(POJO, List.of("anInt", "beanText", "instant"), "anInt").withTimestamp();

        RecordLayout<AllKinds> travelled = InstantiationUtil.clone(layout);

        assertThat(travelled.schema()).isEqualTo(layout.schema());
        assertThat(travelled.fields()).isEqualTo(layout.fields());
        assertThat(travelled.type()).isEqualTo(POJO);
    }
}
