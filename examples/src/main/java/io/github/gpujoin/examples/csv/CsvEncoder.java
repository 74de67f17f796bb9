package io.github.gpujoin.examples.csv;

import de.siegmar.fastcsv.writer.CsvWriter;
import de.siegmar.fastcsv.writer.LineDelimiter;
import de.siegmar.fastcsv.writer.QuoteStrategies;
import java.io.IOException;
import java.io.OutputStream;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import org.apache.flink.api.common.serialization.Encoder;
import org.apache.flink.types.Row;

/** Writes rows as CSV: null as an empty field, an empty text as two quotes. */
final class CsvEncoder implements Encoder<Row> {

    private static final long serialVersionUID = 1L;

    /** Position in the Row of each column that is written. */
    private final int[] positions;

    private transient StringWriter text;
    private transient CsvWriter csv;

    CsvEncoder(int[] positions) {
        this.positions = positions;
    }

    @Override
    public void encode(Row row, OutputStream out) throws IOException {
        String[] fields = new String[positions.length];
        for (int i = 0; i < fields.length; i++) {
            Object value = row.getField(positions[i]);
            fields[i] = value == null ? null : value.toString();
        }
        out.write(line(fields));
    }

    /** The fields as a line with its end. */
    byte[] line(String... fields) {
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
