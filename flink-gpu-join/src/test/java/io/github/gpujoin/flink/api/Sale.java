// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDate;
import java.util.Objects;
import org.apache.avro.Conversion;
import org.apache.avro.Conversions;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.apache.avro.data.TimeConversions;
import org.apache.avro.specific.SpecificData;
import org.apache.avro.specific.SpecificRecordBase;

/** A specific Avro record, as Avro's compiler would write it. */
public class Sale extends SpecificRecordBase {

    private static final long serialVersionUID = 1L;

    public static final Schema SCHEMA$ =
            SchemaBuilder.record("Sale")
                    .namespace(Sale.class.getPackageName())
                    .fields()
                    .requiredLong("id")
                    .optionalInt("customer")
                    .optionalString("name")
                    .name("price")
                    .type(LogicalTypes.decimal(12, 2).addToSchema(Schema.create(Schema.Type.BYTES)))
                    .noDefault()
                    .name("day")
                    .type(LogicalTypes.date().addToSchema(Schema.create(Schema.Type.INT)))
                    .noDefault()
                    .name("at")
                    .type(
                            LogicalTypes.timestampMicros()
                                    .addToSchema(Schema.create(Schema.Type.LONG)))
                    .noDefault()
                    .optionalString("city")
                    .name("source")
                    .type()
                    .stringType()
                    .stringDefault("shop")
                    .endRecord();

    public static final SpecificData MODEL$ = new SpecificData();

    static {
        MODEL$.addLogicalTypeConversion(new Conversions.DecimalConversion());
        MODEL$.addLogicalTypeConversion(new TimeConversions.DateConversion());
        MODEL$.addLogicalTypeConversion(new TimeConversions.TimestampMicrosConversion());
    }

    public long id;
    public Integer customer;
    public CharSequence name;
    public BigDecimal price;
    public LocalDate day;
    public Instant at;
    public CharSequence city;
    public CharSequence source;

    public Sale() {}

    @Override
    public SpecificData getSpecificData() {
        return MODEL$;
    }

    @Override
    public Schema getSchema() {
        return SCHEMA$;
    }

    @Override
    public Conversion<?> getConversion(int field) {
        return switch (field) {
            case 3 -> new Conversions.DecimalConversion();
            case 4 -> new TimeConversions.DateConversion();
            case 5 -> new TimeConversions.TimestampMicrosConversion();
            default -> null;
        };
    }

    @Override
    public Object get(int field) {
        return switch (field) {
            case 0 -> id;
            case 1 -> customer;
            case 2 -> name;
            case 3 -> price;
            case 4 -> day;
            case 5 -> at;
            case 6 -> city;
            case 7 -> source;
            default -> throw new IndexOutOfBoundsException("field=" + field);
        };
    }

    @Override
    public void put(int field, Object value) {
        switch (field) {
            case 0 -> id = (Long) value;
            case 1 -> customer = (Integer) value;
            case 2 -> name = (CharSequence) value;
            case 3 -> price = (BigDecimal) value;
            case 4 -> day = (LocalDate) value;
            case 5 -> at = (Instant) value;
            case 6 -> city = (CharSequence) value;
            case 7 -> source = (CharSequence) Objects.requireNonNull(value);
            default -> throw new IndexOutOfBoundsException("field=" + field);
        }
    }
}
