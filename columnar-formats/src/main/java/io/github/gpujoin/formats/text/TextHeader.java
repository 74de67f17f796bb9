// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.text;

import io.github.gpujoin.formats.FileSchemaException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.core.fs.Path;

/**
 * The first line of a CSV file.
 *
 * @param names of the columns
 * @param end offset in the file after the line
 */
record TextHeader(List<String> names, int end) {

    private static final String BYTE_ORDER_MARK = "\uFEFF";
    private static final byte[] MARK_BYTES = BYTE_ORDER_MARK.getBytes(StandardCharsets.UTF_8);

    /**
     * Returns the offset of the first line in a file without a header, which may follow a byte
     * order mark.
     *
     * @param splitOffset of the split that is read; only the first bytes of a file can be a mark
     */
    static int linesStart(TextBlock block, long splitOffset) throws IOException {
        if (splitOffset > MARK_BYTES.length) {
            return 0;
        }
        while (block.end() < MARK_BYTES.length && block.read(0)) {
            // Files of fewer bytes have no mark.
        }
        return Arrays.mismatch(
                                block.bytes(),
                                0,
                                MARK_BYTES.length,
                                MARK_BYTES,
                                0,
                                MARK_BYTES.length)
                        < 0
                ? MARK_BYTES.length
                : 0;
    }

    /** Reads the header with a block that has read nothing yet. */
    static TextHeader read(TextBlock block, TextSyntax syntax) throws IOException {
        int end = 0;
        boolean isQuoted = false;
        do {
            for (; end < block.end(); end++) {
                byte next = block.bytes()[end];
                isQuoted ^= next == TextSyntax.QUOTE;
                if (next == '\n' && !(isQuoted && syntax.lineBreaks())) {
                    String line = new String(block.bytes(), 0, end, StandardCharsets.UTF_8);
                    return new TextHeader(names(block, line, syntax.delimiter()), end + 1);
                }
            }
        } while (block.read(0));
        throw block.malformed(0, "expected a header");
    }

    private static List<String> names(TextBlock block, String line, char delimiter)
            throws IOException {
        String text = line.startsWith(BYTE_ORDER_MARK) ? line.substring(1) : line;
        text = text.endsWith("\r") ? text.substring(0, text.length() - 1) : text;
        List<String> names = new ArrayList<>();
        int start = 0;
        boolean isQuoted = false;
        for (int i = 0; i <= text.length(); i++) {
            if (i == text.length() || text.charAt(i) == delimiter && !isQuoted) {
                names.add(name(text.substring(start, i)));
                start = i + 1;
            } else if (text.charAt(i) == TextSyntax.QUOTE) {
                isQuoted = !isQuoted;
            }
        }
        if (isQuoted) {
            throw block.malformed(0, "expected a closing quote before the end of the line");
        }
        return names;
    }

    private static String name(String field) {
        return field.length() > 1 && field.startsWith("\"") && field.endsWith("\"")
                ? field.substring(1, field.length() - 1).replace("\"\"", "\"")
                : field;
    }

    /**
     * Finds columns by name.
     *
     * @throws FileSchemaException if the header has a column not at all, or twice
     */
    FieldMap fields(List<TextColumn> columns, Path file) throws FileSchemaException {
        int[] fields = new int[columns.size()];
        for (int i = 0; i < fields.length; i++) {
            String name = columns.get(i).name();
            fields[i] = names.indexOf(name);
            if (fields[i] < 0 || names.lastIndexOf(name) != fields[i]) {
                String fault = fields[i] < 0 ? "lacks a column" : "has a column twice";
                throw new FileSchemaException(
                        "Header %s: column=%s, columns=%s".formatted(fault, name, names), file);
            }
        }
        return new FieldMap(names.size(), end, fields);
    }
}
