package io.github.gpujoin.examples.csv;

import de.siegmar.fastcsv.writer.CsvWriter;
import de.siegmar.fastcsv.writer.LineDelimiter;
import de.siegmar.fastcsv.writer.QuoteStrategies;
import java.io.IOException;
import java.io.OutputStream;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import org.apache.flink.api.common.serialization.Encoder;

/** Writes records as CSV: null as an empty field, an empty text as two quotes. */
final class CsvEncoder implements Encoder<String[]> {

    private static final long serialVersionUID = 1L;

    private transient StringWriter text;
    private transient CsvWriter csv;

    @Override
    public void encode(String[] fields, OutputStream out) throws IOException {
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
