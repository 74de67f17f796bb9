// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import java.io.IOException;
import java.io.ObjectInput;
import java.io.ObjectOutput;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.LocalDate;
import org.apache.avro.Conversion;
import org.apache.avro.Conversions;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.apache.avro.data.TimeConversions;
import org.apache.avro.specific.SpecificData;
import org.apache.avro.specific.SpecificFixed;
import org.apache.avro.specific.SpecificRecordBase;

/**
 * A specific Avro record, as Avro's compiler would write it: with no conversion of a field whose
 * logical type is in a union, and with classes of its own for an enum and a fixed.
 */
public class Visit extends SpecificRecordBase {

    /** Namespace of the classes in here, as Avro writes it. */
    private static final String NESTED = Visit.class.getName() + "$";

    /** An enum. */
    public enum Level {
        LOW,
        HIGH;

        public static final Schema SCHEMA$ =
                SchemaBuilder.enumeration("Level").namespace(NESTED).symbols("LOW", "HIGH");
    }

    /** A fixed of four bytes. */
    public static class Code extends SpecificFixed {
        private static final long serialVersionUID = 1L;

        public static final Schema SCHEMA$ = SchemaBuilder.fixed("Code").namespace(NESTED).size(4);

        @Override
        public Schema getSchema() {
            return SCHEMA$;
        }

        @Override
        public void writeExternal(ObjectOutput out) throws IOException {
            out.write(bytes());
        }

        @Override
        public void readExternal(ObjectInput in) throws IOException {
            in.readFully(bytes());
        }
    }

    private static final long serialVersionUID = 1L;

    private static final Schema DATE =
            LogicalTypes.date().addToSchema(Schema.create(Schema.Type.INT));
    private static final Schema NULL = Schema.create(Schema.Type.NULL);

    public static final Schema SCHEMA$ =
            SchemaBuilder.record("Visit")
                    .namespace(Visit.class.getPackageName())
                    .fields()
                    .requiredLong("key")
                    .name("since")
                    .type(Schema.createUnion(NULL, DATE))
                    .withDefault(null)
                    .name("level")
                    .type(Schema.createUnion(NULL, Level.SCHEMA$))
                    .withDefault(null)
                    .name("code")
                    .type(Schema.createUnion(Code.SCHEMA$, NULL))
                    .noDefault()
                    .name("price")
                    .type(
                            Schema.createUnion(
                                    NULL,
                                    LogicalTypes.decimal(9, 2)
                                            .addToSchema(Schema.create(Schema.Type.BYTES))))
                    .withDefault(null)
                    .name("at")
                    .type(
                            LogicalTypes.timestampMillis()
                                    .addToSchema(Schema.create(Schema.Type.LONG)))
                    .noDefault()
                    .name("grade")
                    .type(Level.SCHEMA$)
                    .withDefault("HIGH")
                    .name("mark")
                    .type(Code.SCHEMA$)
                    .withDefault(ByteBuffer.wrap(new byte[] {1, 2, 3, 4}))
                    .name("opened")
                    .type(DATE)
                    .withDefault(10)
                    .endRecord();

    public static final SpecificData MODEL$ = new SpecificData();

    static {
        MODEL$.addLogicalTypeConversion(new TimeConversions.DateConversion());
        MODEL$.addLogicalTypeConversion(new TimeConversions.TimestampMillisConversion());
        MODEL$.addLogicalTypeConversion(new Conversions.DecimalConversion());
    }

    public long key;
    public LocalDate since;
    public Level level;
    public Code code;
    public BigDecimal price;
    public Instant at;
    public Level grade;
    public Code mark;
    public LocalDate opened;

    public Visit() {}

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
            case 5 -> new TimeConversions.TimestampMillisConversion();
            case 8 -> new TimeConversions.DateConversion();
            default -> null;
        };
    }

    @Override
    public Object get(int field) {
        return switch (field) {
            case 0 -> key;
            case 1 -> since;
            case 2 -> level;
            case 3 -> code;
            case 4 -> price;
            case 5 -> at;
            case 6 -> grade;
            case 7 -> mark;
            case 8 -> opened;
            default -> throw new IndexOutOfBoundsException("field=" + field);
        };
    }

    @Override
    public void put(int field, Object value) {
        switch (field) {
            case 0 -> key = (Long) value;
            case 1 -> since = (LocalDate) value;
            case 2 -> level = (Level) value;
            case 3 -> code = (Code) value;
            case 4 -> price = (BigDecimal) value;
            case 5 -> at = (Instant) value;
            case 6 -> grade = (Level) value;
            case 7 -> mark = (Code) value;
            case 8 -> opened = (LocalDate) value;
            default -> throw new IndexOutOfBoundsException("field=" + field);
        }
    }
}
