// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.csv;

import de.siegmar.fastcsv.reader.AbstractBaseCsvCallbackHandler;
import de.siegmar.fastcsv.reader.CloseableIterator;
import de.siegmar.fastcsv.reader.CsvParseException;
import de.siegmar.fastcsv.reader.CsvReader;
import io.github.gpujoin.formats.text.MalformedLineException;
import java.io.BufferedReader;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The records of a CSV file as RFC 4180 has them, in UTF-8, header line included. An empty field is
 * null where it is not quoted, and an empty text where it is. Behind a header of one column an
 * empty line is such a null; else empty lines are skipped. Not thread-safe.
 */
final class CsvRecords implements Closeable {

    /** Collects the fields of a record. */
    private static final class Fields extends AbstractBaseCsvCallbackHandler<String[]> {

        private String[] fields = new String[16];
        private int count;
        private long line;

        @Override
        protected void handleBegin(long startingLine) {
            count = 0;
            line = startingLine;
        }

        @Override
        protected void handleField(
                int index, char[] buffer, int offset, int length, boolean quoted) {
            if (index == fields.length) {
                fields = Arrays.copyOf(fields, 2 * index);
            }
            fields[index] = length == 0 && !quoted ? null : new String(buffer, offset, length);
            count = index + 1;
        }

        @Override
        protected void handleEmpty() {
            fields[0] = null;
            count = 1;
        }

        @Override
        protected String[] buildRecord() {
            return Arrays.copyOf(fields, count);
        }
    }

    private static final char BYTE_ORDER_MARK = '\uFEFF';

    /** Many lines are decoded before the first of them is read. */
    private static final String NOT_UTF_8 = "expected UTF-8 on this line or one that follows";

    private final String file;
    private final Fields fields = new Fields();
    private final CsvReader<String[]> reader;
    private final CloseableIterator<String[]> iterator;

    /** Columns of the header; 0 until it is read. */
    private int columns;

    private CsvRecords(String file, BufferedReader text) {
        this.file = file;
        this.reader =
                CsvReader.builder()
                        .skipEmptyLines(false)
                        .allowExtraFields(true)
                        .allowMissingFields(true)
                        .allowUnclosedQuote(false)
                        .allowExtraCharsAfterClosingQuote(false)
                        .build(fields, text);
        this.iterator = reader.iterator();
    }

    /** Owns the stream from now on, and closes it even if the call fails. */
    static CsvRecords open(String file, InputStream in) throws IOException {
        try {
            BufferedReader text =
                    new BufferedReader(
                            new InputStreamReader(
                                    in,
                                    StandardCharsets.UTF_8
                                            .newDecoder()
                                            .onMalformedInput(CodingErrorAction.REPORT)
                                            .onUnmappableCharacter(CodingErrorAction.REPORT)));
            text.mark(1);
            if (text.read() != BYTE_ORDER_MARK) {
                text.reset();
            }
            return new CsvRecords(file, text);
        } catch (CharacterCodingException e) {
            in.close();
            throw new MalformedLineException(file, 1, NOT_UTF_8);
        } catch (IOException | RuntimeException e) {
            in.close();
            throw e;
        }
    }

    /** The next record, or null at the end. */
    String @Nullable [] next() throws IOException {
        try {
            while (iterator.hasNext()) {
                String[] record = iterator.next();
                boolean emptyLine = record.length == 1 && record[0] == null;
                if (emptyLine && columns != 1) {
                    continue;
                }
                if (columns == 0) {
                    columns = record.length;
                }
                return record;
            }
            return null;
        } catch (CsvParseException e) {
            throw malformed(rootMessage(e));
        } catch (UncheckedIOException e) {
            if (e.getCause() instanceof CharacterCodingException) {
                throw malformed(NOT_UTF_8);
            }
            throw e.getCause();
        }
    }

    /** Line on which the last record begins, from 1. */
    long line() {
        return fields.line;
    }

    MalformedLineException malformed(String problem) {
        return new MalformedLineException(file, Math.max(1, line()), problem);
    }

    private static String rootMessage(Throwable failure) {
        Throwable root = failure;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return root.getMessage();
    }

    @Override
    public void close() throws IOException {
        reader.close();
    }
}
