package io.github.gpujoin.examples.files;

import java.io.IOException;
import org.apache.avro.file.DataFileStream;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericRecord;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.file.src.reader.SimpleStreamFormat;
import org.apache.flink.connector.file.src.reader.StreamFormat;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.formats.avro.AvroToRowDataConverters;
import org.apache.flink.formats.avro.AvroToRowDataConverters.AvroToRowDataConverter;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.RowType;

/**
 * Reads an Avro container one row after the other. The columns are the reader's: fields of the file
 * that are none of them are passed over, and columns that it has not have their default, null.
 */
final class AvroRowFormat extends SimpleStreamFormat<RowData> {

    private static final long serialVersionUID = 1L;

    private final RowType columns;

    AvroRowFormat(RowType columns) {
        this.columns = columns;
    }

    @Override
    public StreamFormat.Reader<RowData> createReader(Configuration config, FSDataInputStream in)
            throws IOException {
        DataFileStream<GenericRecord> records =
                new DataFileStream<>(in, new GenericDatumReader<>());
        return new RowReader(records, AvroToRowDataConverters.createRowConverter(columns, false));
    }

    @Override
    public TypeInformation<RowData> getProducedType() {
        return InternalTypeInfo.of(columns);
    }

    private record RowReader(
            DataFileStream<GenericRecord> records, AvroToRowDataConverter converter)
            implements StreamFormat.Reader<RowData> {

        @Override
        public RowData read() throws IOException {
            return records.hasNext() ? (RowData) converter.convert(records.next()) : null;
        }

        @Override
        public void close() throws IOException {
            records.close();
        }
    }
}
