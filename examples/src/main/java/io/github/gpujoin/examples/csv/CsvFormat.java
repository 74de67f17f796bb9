package io.github.gpujoin.examples.csv;

import java.io.IOException;
import java.util.stream.IntStream;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.typeutils.RowTypeInfo;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.file.src.reader.SimpleStreamFormat;
import org.apache.flink.connector.file.src.reader.StreamFormat;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.types.Row;

/**
 * Format of a Flink file source that reads a CSV file as Rows, one after the other: the key as a
 * 64-bit integer, every other column as text, and all of them possibly null. Quoted fields may hold
 * line ends, so a file is not split.
 */
public final class CsvFormat extends SimpleStreamFormat<Row> {

    private static final long serialVersionUID = 1L;

    private final CsvHeader header;
    private final String prefix;

    /**
     * @param prefix of the Row's field names, which a number follows: the column's
     */
    public CsvFormat(CsvHeader header, String prefix) {
        this.header = header;
        this.prefix = prefix;
    }

    @Override
    public StreamFormat.Reader<Row> createReader(Configuration config, FSDataInputStream stream)
            throws IOException {
        CsvRecords records = CsvRecords.open(header.file(), stream);
        try {
            records.next();
            return new RowReader(header, records);
        } catch (IOException | RuntimeException e) {
            records.close();
            throw e;
        }
    }

    @Override
    public TypeInformation<Row> getProducedType() {
        TypeInformation<?>[] types = new TypeInformation<?>[header.size()];
        for (int i = 0; i < types.length; i++) {
            types[i] = i == header.keyColumn() ? Types.LONG : Types.STRING;
        }
        String[] names =
                IntStream.range(0, types.length).mapToObj(this::field).toArray(String[]::new);
        return new RowTypeInfo(types, names);
    }

    /** Name of the Row's field that holds a column. */
    public String field(int column) {
        return prefix + column;
    }

    private record RowReader(CsvHeader header, CsvRecords records)
            implements StreamFormat.Reader<Row> {

        @Override
        public Row read() throws IOException {
            String[] fields = records.next();
            if (fields == null) {
                return null;
            }
            if (fields.length != header.size()) {
                throw records.malformed(
                        "expected " + header.size() + " fields, found " + fields.length);
            }
            Row row = new Row(fields.length);
            for (int i = 0; i < fields.length; i++) {
                row.setField(i, i == header.keyColumn() ? key(fields[i]) : fields[i]);
            }
            return row;
        }

        private Long key(String field) throws IOException {
            if (field == null) {
                return null;
            }
            try {
                return Long.valueOf(field);
            } catch (NumberFormatException e) {
                throw records.malformed(
                        "column="
                                + header.key()
                                + ", expected a 64-bit integer, found '"
                                + field
                                + "'");
            }
        }

        @Override
        public void close() throws IOException {
            records.close();
        }
    }
}
