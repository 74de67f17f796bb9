// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.csv;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.file.src.reader.SimpleStreamFormat;
import org.apache.flink.connector.file.src.reader.StreamFormat;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.VarCharType;
import org.jspecify.annotations.Nullable;

/**
 * Format of a Flink file source that reads a CSV file as rows of text, one after the other, in
 * which any field may be null. Quoted fields may hold line ends, so a file is not split.
 */
public final class CsvFormat extends SimpleStreamFormat<RowData> {

    /** What becomes of a line with another number of fields than the header. */
    public enum BadLines {
        /** Reading fails. */
        FAIL,
        /** It is a row of nulls whose problem stands in {@link #PROBLEM}, a column more. */
        MARK
    }

    /** Column behind all others, null in rows that could be read. */
    public static final String PROBLEM = "$problem";

    private static final long serialVersionUID = 1L;

    private final String file;
    private final RowType columns;
    private final BadLines badLines;

    /**
     * @param file for messages
     * @param columns of the header
     */
    public CsvFormat(String file, RowType columns, BadLines badLines) {
        this.file = file;
        this.columns = columns;
        this.badLines = badLines;
    }

    @Override
    public StreamFormat.Reader<RowData> createReader(Configuration config, FSDataInputStream stream)
            throws IOException {
        CsvRecords records = CsvRecords.open(file, stream);
        try {
            records.next();
            return new RowReader(records, columns.getFieldCount(), badLines);
        } catch (IOException | RuntimeException e) {
            records.close();
            throw e;
        }
    }

    @Override
    public TypeInformation<RowData> getProducedType() {
        if (badLines == BadLines.FAIL) {
            return InternalTypeInfo.of(columns);
        }
        List<RowType.RowField> fields = new ArrayList<>(columns.getFields());
        fields.add(new RowType.RowField(PROBLEM, VarCharType.STRING_TYPE));
        return InternalTypeInfo.of(new RowType(false, fields));
    }

    private record RowReader(CsvRecords records, int columns, BadLines badLines)
            implements StreamFormat.Reader<RowData> {

        @Override
        public @Nullable RowData read() throws IOException {
            String[] fields = records.next();
            if (fields == null) {
                return null;
            }
            GenericRowData row =
                    new GenericRowData(badLines == BadLines.MARK ? columns + 1 : columns);
            if (fields.length == columns) {
                for (int i = 0; i < columns; i++) {
                    row.setField(i, StringData.fromString(fields[i]));
                }
                return row;
            }
            IOException problem =
                    records.malformed("expected " + columns + " fields, found " + fields.length);
            if (badLines == BadLines.FAIL) {
                throw problem;
            }
            row.setField(columns, StringData.fromString(problem.getMessage()));
            return row;
        }

        @Override
        public void close() throws IOException {
            records.close();
        }
    }
}
