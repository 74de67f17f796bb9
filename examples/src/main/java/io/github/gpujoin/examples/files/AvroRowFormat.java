// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.files;

import java.io.IOException;
import org.apache.avro.Schema;
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
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.RowType;
import org.jspecify.annotations.Nullable;

/**
 * Reads the rows of an Avro container in order. Avro's schema resolution applies: fields outside
 * the reader schema are skipped, missing fields get the default of the schema, and numbers are
 * widened.
 */
final class AvroRowFormat extends SimpleStreamFormat<RowData> {

    private static final long serialVersionUID = 1L;

    private final RowType columns;
    private final String readerSchema;

    /**
     * @param columns columns of the reader schema
     */
    AvroRowFormat(RowType columns, Schema readerSchema) {
        this.columns = columns;
        this.readerSchema = readerSchema.toString();
    }

    @Override
    public StreamFormat.Reader<RowData> createReader(Configuration config, FSDataInputStream in)
            throws IOException {
        // The file contains the writer schema.
        GenericDatumReader<GenericRecord> reader =
                new GenericDatumReader<>(null, new Schema.Parser().parse(readerSchema));
        DataFileStream<GenericRecord> records = new DataFileStream<>(in, reader);
        return new RowReader(
                records,
                AvroToRowDataConverters.createRowConverter(columns, false),
                new AvroMicros(columns));
    }

    @Override
    public TypeInformation<RowData> getProducedType() {
        return InternalTypeInfo.of(columns);
    }

    private record RowReader(
            DataFileStream<GenericRecord> records,
            AvroToRowDataConverter converter,
            AvroMicros micros)
            implements StreamFormat.Reader<RowData> {

        @Override
        public @Nullable RowData read() {
            if (!records.hasNext()) {
                return null;
            }
            GenericRecord record = records.next();
            GenericRowData row = (GenericRowData) converter.convert(record);
            micros.read(record, row);
            return row;
        }

        @Override
        public void close() throws IOException {
            records.close();
        }
    }
}
