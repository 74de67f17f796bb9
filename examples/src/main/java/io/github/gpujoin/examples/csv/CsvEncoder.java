// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.csv;

import de.siegmar.fastcsv.writer.CsvWriter;
import de.siegmar.fastcsv.writer.LineDelimiter;
import de.siegmar.fastcsv.writer.QuoteStrategies;
import java.io.IOException;
import java.io.OutputStream;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.time.LocalTime;
import java.util.HexFormat;
import org.apache.flink.api.common.serialization.Encoder;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.types.logical.LogicalTypeRoot;
import org.apache.flink.table.types.logical.RowType;
import org.jspecify.annotations.Nullable;

/**
 * Writes rows as CSV in UTF-8, one line feed after each: null as an empty field, an empty text as
 * two quotes, bytes in hexadecimal digits, dates and times in ISO 8601, instants in UTC. Writes no
 * header; {@link #line} can. Not thread-safe.
 */
public final class CsvEncoder implements Encoder<RowData> {

    private static final long serialVersionUID = 1L;
    private static final long NANOS_PER_MILLISECOND = 1_000_000;

    private final LogicalTypeRoot[] types;
    private final RowData.FieldGetter[] getters;
    private transient StringWriter text;
    private transient @Nullable CsvWriter csv;

    public CsvEncoder(RowType columns) {
        int count = columns.getFieldCount();
        this.types = new LogicalTypeRoot[count];
        this.getters = new RowData.FieldGetter[count];
        for (int i = 0; i < count; i++) {
            types[i] = columns.getTypeAt(i).getTypeRoot();
            getters[i] = RowData.createFieldGetter(columns.getTypeAt(i), i);
        }
    }

    @Override
    public void encode(RowData row, OutputStream out) throws IOException {
        String[] fields = new String[getters.length];
        for (int i = 0; i < fields.length; i++) {
            Object value = getters[i].getFieldOrNull(row);
            fields[i] = value == null ? null : text(value, types[i]);
        }
        out.write(line(fields));
    }

    private static String text(Object value, LogicalTypeRoot type) {
        return switch (type) {
            case DATE -> LocalDate.ofEpochDay((Integer) value).toString();
            case TIME_WITHOUT_TIME_ZONE ->
                    LocalTime.ofNanoOfDay((Integer) value * NANOS_PER_MILLISECOND).toString();
            case TIMESTAMP_WITHOUT_TIME_ZONE ->
                    ((TimestampData) value).toLocalDateTime().toString();
            case TIMESTAMP_WITH_LOCAL_TIME_ZONE -> ((TimestampData) value).toInstant().toString();
            case BINARY, VARBINARY -> HexFormat.of().formatHex((byte[]) value);
            default -> value.toString();
        };
    }

    /**
     * Returns the fields as a line with its line feed.
     *
     * @param fields a null element is an empty field
     */
    public byte[] line(String... fields) {
        if (csv == null) {
            text = new StringWriter();
            csv =
                    CsvWriter.builder()
                            .lineDelimiter(LineDelimiter.LF)
                            .quoteStrategy(QuoteStrategies.EMPTY)
                            .bufferSize(0)
                            .build(text);
        }
        text.getBuffer().setLength(0);
        csv.writeRecord(fields);
        return text.toString().getBytes(StandardCharsets.UTF_8);
    }
}
