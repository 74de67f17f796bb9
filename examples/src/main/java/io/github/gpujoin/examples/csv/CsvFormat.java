package io.github.gpujoin.examples.csv;

import java.io.IOException;
import org.apache.flink.api.common.typeinfo.BasicArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.file.src.reader.SimpleStreamFormat;
import org.apache.flink.connector.file.src.reader.StreamFormat;
import org.apache.flink.core.fs.FSDataInputStream;

/**
 * Format of a Flink file source that reads a CSV file as arrays of text, one after the other, in
 * which any field may be null. Quoted fields may hold line ends, so a file is not split.
 */
public final class CsvFormat extends SimpleStreamFormat<String[]> {

    private static final long serialVersionUID = 1L;

    private final CsvHeader header;

    public CsvFormat(CsvHeader header) {
        this.header = header;
    }

    @Override
    public StreamFormat.Reader<String[]> createReader(
            Configuration config, FSDataInputStream stream) throws IOException {
        CsvRecords records = CsvRecords.open(header.file(), stream);
        try {
            records.next();
            return new RecordReader(header, records);
        } catch (IOException | RuntimeException e) {
            records.close();
            throw e;
        }
    }

    @Override
    public TypeInformation<String[]> getProducedType() {
        return BasicArrayTypeInfo.STRING_ARRAY_TYPE_INFO;
    }

    private record RecordReader(CsvHeader header, CsvRecords records)
            implements StreamFormat.Reader<String[]> {

        @Override
        public String[] read() throws IOException {
            String[] fields = records.next();
            if (fields != null && fields.length != header.size()) {
                throw records.malformed(
                        "expected " + header.size() + " fields, found " + fields.length);
            }
            return fields;
        }

        @Override
        public void close() throws IOException {
            records.close();
        }
    }
}
