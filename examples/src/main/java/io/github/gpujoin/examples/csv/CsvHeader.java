// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.csv;

import io.github.gpujoin.examples.run.Cli.UserError;
import io.github.gpujoin.formats.text.MalformedLineException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.VarCharType;

/**
 * The header line of a CSV file.
 *
 * @param file for messages
 */
public record CsvHeader(String file, List<String> columns) {

    /**
     * Reads and checks a file's header.
     *
     * @throws UserError where the file is missing, or has no header line or a name twice
     */
    public static CsvHeader read(Path file) {
        if (!Files.isRegularFile(file) || !Files.isReadable(file)) {
            throw new UserError(
                    "Cannot read the file. Check the path and its permissions: file=" + file);
        }
        List<String> columns;
        try (CsvRecords records = CsvRecords.open(file.toString(), Files.newInputStream(file))) {
            String[] first = records.next();
            if (first == null) {
                throw new UserError("CSV file without a header line. Add one: file=" + file);
            }
            columns = Arrays.stream(first).map(name -> name == null ? "" : name).toList();
        } catch (IOException e) {
            throw unreadable(file, e);
        }
        Set<String> seen = new HashSet<>();
        for (String column : columns) {
            if (!seen.add(column)) {
                throw new UserError(
                        "Two columns of a CSV file have the same name. Rename one: file="
                                + file
                                + ", column="
                                + column);
            }
        }
        return new CsvHeader(file.toString(), columns);
    }

    /**
     * Whether every key of the file that is not null is a 64-bit integer. Reads the file up to the
     * first that is not; lines with another number of fields than the header have no key.
     *
     * @param keyColumn number of the key's column
     * @throws UserError where a line on the way is malformed
     */
    public boolean hasIntegerKeys(int keyColumn) {
        try (CsvRecords records = CsvRecords.open(file, Files.newInputStream(Path.of(file)))) {
            records.next();
            for (String[] record = records.next(); record != null; record = records.next()) {
                if (record.length == columns.size() && !isIntegerOrNull(record[keyColumn])) {
                    return false;
                }
            }
            return true;
        } catch (IOException e) {
            throw unreadable(file, e);
        }
    }

    private static UserError unreadable(Object file, IOException cause) {
        return new UserError(
                cause instanceof MalformedLineException
                        ? cause.getMessage()
                        : "Reading a CSV file failed. Check the file and its disk: file="
                                + file
                                + ", cause="
                                + cause);
    }

    private static boolean isIntegerOrNull(String key) {
        try {
            return key == null || Long.valueOf(key) != null;
        } catch (NumberFormatException e) {
            return false;
        }
    }

    /** All columns as text that may be null. */
    public RowType rowType() {
        return new RowType(
                false,
                columns.stream()
                        .map(name -> new RowType.RowField(name, VarCharType.STRING_TYPE))
                        .toList());
    }
}
