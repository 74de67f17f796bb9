// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.flink.record.RecordShape;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.function.Function;
import org.apache.avro.SchemaBuilder;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.formats.avro.typeutils.AvroTypeInfo;
import org.apache.flink.formats.avro.typeutils.GenericRecordAvroTypeInfo;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.BigIntType;
import org.apache.flink.table.types.logical.DateType;
import org.apache.flink.table.types.logical.DecimalType;
import org.apache.flink.table.types.logical.IntType;
import org.apache.flink.table.types.logical.LocalZonedTimestampType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.VarCharType;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Facts of every kind of record, and results as every kind. */
class RecordFormatsITCase {

    @RegisterExtension
    private static final MiniClusterExtension CLUSTER =
            new MiniClusterExtension(
                    new MiniClusterResourceConfiguration.Builder()
                            .setNumberTaskManagers(1)
                            .setNumberSlotsPerTaskManager(2)
                            .build());

    private static final String[] NAMES = {
        "id", "customer", "name", "price", "day", "at", "city", "source"
    };

    /** What a record holds, by the names above; a null source is the default of the format. */
    private static final String DEFAULT_SOURCE = "shop";

    private static final TypeInformation<Row> CUSTOMER =
            Types.ROW_NAMED(new String[] {"key", "town"}, Types.INT, Types.STRING);

    /** A kind of record, and how the test makes one. */
    enum Format {
        POJO(TypeInformation.of(PojoSale.class), PojoSale::of),
        ROW_DATA(
                InternalTypeInfo.ofFields(
                        new LogicalType[] {
                            new BigIntType(false),
                            new IntType(),
                            VarCharType.STRING_TYPE,
                            new DecimalType(12, 2),
                            new DateType(),
                            new LocalZonedTimestampType(6),
                            VarCharType.STRING_TYPE,
                            VarCharType.STRING_TYPE
                        },
                        NAMES),
                RecordFormatsITCase::rowData),
        AVRO_GENERIC(
                new GenericRecordAvroTypeInfo(Sale.SCHEMA$), RecordFormatsITCase::genericRecord),
        AVRO_SPECIFIC(new AvroTypeInfo<>(Sale.class), RecordFormatsITCase::specificRecord);

        private final TypeInformation<Object> type;
        private final Function<Object[], Object> make;

        @SuppressWarnings("unchecked")
        Format(TypeInformation<?> type, Function<Object[], Object> make) {
            this.type = (TypeInformation<Object>) type;
            this.make = make;
        }

        List<Object> fields(Object record) {
            RecordShape<Object> shape = RecordShape.of(type);
            return Arrays.stream(NAMES).map(name -> shape.getter(name).get(record)).toList();
        }
    }

    /** With fields of any class, as results may be null. */
    public static class PojoSale {
        public Long id;
        public Integer customer;
        public String name;
        public BigDecimal price;
        public LocalDate day;
        public Instant at;
        public String city;
        public String source = DEFAULT_SOURCE;

        public PojoSale() {}

        static PojoSale of(Object[] fields) {
            PojoSale sale = new PojoSale();
            sale.id = (Long) fields[0];
            sale.customer = (Integer) fields[1];
            sale.name = (String) fields[2];
            sale.price = (BigDecimal) fields[3];
            sale.day = (LocalDate) fields[4];
            sale.at = (Instant) fields[5];
            return sale;
        }
    }

    private static RowData rowData(Object[] fields) {
        return GenericRowData.of(
                fields[0],
                fields[1],
                StringData.fromString((String) fields[2]),
                DecimalData.fromBigDecimal((BigDecimal) fields[3], 12, 2),
                (int) ((LocalDate) fields[4]).toEpochDay(),
                TimestampData.fromInstant((Instant) fields[5]),
                null,
                null);
    }

    private static GenericRecord genericRecord(Object[] fields) {
        GenericRecord record = new GenericData.Record(Sale.SCHEMA$);
        Instant at = (Instant) fields[5];
        record.put("id", fields[0]);
        record.put("customer", fields[1]);
        record.put("name", fields[2]);
        byte[] hundredths = ((BigDecimal) fields[3]).unscaledValue().toByteArray();
        record.put("price", ByteBuffer.wrap(hundredths));
        record.put("day", (int) ((LocalDate) fields[4]).toEpochDay());
        record.put("at", at.getEpochSecond() * 1_000_000 + at.getNano() / 1_000);
        record.put("source", DEFAULT_SOURCE);
        return record;
    }

    private static Sale specificRecord(Object[] fields) {
        Sale sale = new Sale();
        for (int i = 0; i < 6; i++) {
            sale.put(i, fields[i]);
        }
        sale.source = DEFAULT_SOURCE;
        return sale;
    }

    private static List<Object[]> sales(Random random) {
        List<Object[]> sales = new ArrayList<>();
        for (long id = 0; id < 200; id++) {
            sales.add(
                    new Object[] {
                        id,
                        random.nextInt(8) == 0 ? null : (Integer) random.nextInt(20),
                        random.nextInt(5) == 0 ? null : "näme " + id,
                        BigDecimal.valueOf(random.nextInt(2_000_000) - 1_000_000, 2),
                        LocalDate.ofEpochDay(random.nextInt(40_000) - 20_000),
                        Instant.ofEpochSecond(random.nextInt(), random.nextInt(1_000_000) * 1_000L)
                    });
        }
        return sales;
    }

    private static StarJoin<Object> facts(
            StreamExecutionEnvironment env, Format format, List<Object[]> sales) {
        List<Object> records = sales.stream().map(format.make).toList();
        DataStream<Object> facts = env.fromData(records, format.type);
        return StarJoin.of(facts).select("id", "customer", "name", "price", "day", "at");
    }

    @ParameterizedTest(name = "{0} to {1}")
    @CsvSource({
        "POJO, ROW_DATA",
        "ROW_DATA, AVRO_GENERIC",
        "ROW_DATA, ROW_DATA",
        "AVRO_GENERIC, AVRO_SPECIFIC",
        "AVRO_SPECIFIC, POJO",
        "AVRO_SPECIFIC, AVRO_GENERIC",
        "AVRO_GENERIC, ROW_DATA"
    })
    void shouldJoinRecordsOfEveryKind(Format in, Format out) throws Exception {
        List<Object[]> sales = sales(new Random(in.ordinal()));
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        env.setParallelism(2);
        List<Row> customers = new ArrayList<>();
        for (int key = 0; key < 15; key++) {
            customers.add(Row.of(key, "town " + key));
        }

        List<List<Object>> actual = new ArrayList<>();
        try (CloseableIterator<Object> results =
                facts(env, in, sales)
                        .dimension(
                                env.fromData(customers, CUSTOMER),
                                d -> d.on("customer", "key").select("town AS city").left())
                        .toRecords(out.type)
                        .executeAndCollect()) {
            results.forEachRemaining(record -> actual.add(out.fields(record)));
        }

        List<List<Object>> expected = new ArrayList<>();
        for (Object[] sale : sales) {
            List<Object> fields = new ArrayList<>(Arrays.asList(sale));
            boolean known = sale[1] != null && (Integer) sale[1] < 15;
            fields.add(known ? "town " + sale[1] : null);
            fields.add(out == Format.ROW_DATA ? null : DEFAULT_SOURCE);
            expected.add(fields);
        }
        assertThat(actual).containsExactlyInAnyOrderElementsOf(expected);
    }

    @ParameterizedTest
    @CsvSource({"ROW_DATA", "AVRO_GENERIC", "AVRO_SPECIFIC"})
    void shouldJoinWholeRecordsOfEveryKindByAnyKey(Format format) throws Exception {
        List<Object[]> sales = sales(new Random(5));
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        env.setParallelism(2);
        List<Object> records = sales.stream().map(format.make).toList();
        DataStream<Object> stream = env.fromData(records, format.type);
        TypeInformation<Object> type = format.type;

        List<List<Object>> actual = new ArrayList<>();
        try (CloseableIterator<Object> results =
                PairJoin.build(stream)
                        .probe(stream)
                        .where(
                                s -> (LocalDate) RecordShape.of(type).getter("day").get(s),
                                Types.LOCAL_DATE)
                        .equalTo(
                                s -> (LocalDate) RecordShape.of(type).getter("day").get(s),
                                Types.LOCAL_DATE)
                        .apply((b, p) -> p, type)
                        .executeAndCollect()) {
            results.forEachRemaining(record -> actual.add(format.fields(record).subList(0, 6)));
        }

        List<List<Object>> expected = new ArrayList<>();
        for (Object[] p : sales) {
            for (Object[] b : sales) {
                if (Objects.equals(p[4], b[4])) {
                    expected.add(Arrays.asList(p));
                }
            }
        }
        assertThat(actual).containsExactlyInAnyOrderElementsOf(expected);
    }

    @Test
    void shouldRefuseRecordsThatResultsDoNotFitInto() {
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        StarJoin<Object> join =
                facts(env, Format.AVRO_GENERIC, sales(new Random(1)).subList(0, 1))
                        .dimension(
                                env.fromData(List.of(Row.of(1, "a")), CUSTOMER),
                                d -> d.on("customer", "key"));
        TypeInformation<GenericRecord> other =
                new GenericRecordAvroTypeInfo(
                        SchemaBuilder.record("Other")
                                .fields()
                                .requiredLong("id")
                                .requiredString("customer")
                                .endRecord());
        TypeInformation<GenericRecord> more =
                new GenericRecordAvroTypeInfo(
                        SchemaBuilder.record("More")
                                .fields()
                                .requiredLong("id")
                                .requiredString("comment")
                                .endRecord());
        StarJoin<Object> onlyId =
                facts(env, Format.AVRO_GENERIC, sales(new Random(1)).subList(0, 1)).select("id");
        onlyId.dimension(
                env.fromData(List.of(Row.of(1, "a")), CUSTOMER), d -> d.on("customer", "key"));

        assertThatThrownBy(() -> join.toRecords(other))
                .hasMessageContaining("column=customer")
                .hasMessageContaining("columnType=Integer, fieldType=String");
        assertThatThrownBy(() -> onlyId.toRecords(more))
                .hasMessageStartingWith("Avro field without a result column and without a default")
                .hasMessageContaining("field=comment");
        assertThatThrownBy(() -> onlyId.toRecords(Types.STRING))
                .hasMessageStartingWith("The class is not a POJO by Flink's rules");
    }
}
