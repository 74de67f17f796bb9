// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.query;

import de.siegmar.fastcsv.writer.CsvWriter;
import de.siegmar.fastcsv.writer.LineDelimiter;
import io.github.gpujoin.examples.data.WholeFile;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.types.Row;

/**
 * The answer to a query, as text in the query's order.
 *
 * @param rows one text for each column of the query; null for a null value. A query for a grand
 *     total has one row, of nulls if no fact matches.
 * @param factRows number of rows of the fact table that the job read
 * @param seconds from the job's submission to its end
 */
public record QueryResult(Query query, List<String[]> rows, long factRows, double seconds) {

    static QueryResult of(Query query, List<Row> rows, long factRows, double seconds) {
        List<ResultColumn> columns = query.columns();
        List<String[]> text = new ArrayList<>();
        rows.stream()
                .sorted(query.order())
                .limit(query.limit())
                .forEach(
                        row ->
                                text.add(
                                        columns.stream()
                                                .map(c -> c.format(row.getField(c.name())))
                                                .toArray(String[]::new)));
        if (text.isEmpty() && query.isGrandTotal()) {
            text.add(new String[columns.size()]);
        }
        return new QueryResult(query, text, factRows, seconds);
    }

    /** Returns the names of the columns. */
    public String[] header() {
        return query.columns().stream().map(ResultColumn::name).toArray(String[]::new);
    }

    /**
     * Prints the header and the first rows as a right-aligned table, and the number of the others.
     *
     * @param mostRows maximum number of rows to print, at least 0
     */
    public void print(PrintWriter out, int mostRows) {
        List<String[]> shown = new ArrayList<>();
        shown.add(header());
        shown.addAll(rows.subList(0, Math.min(mostRows, rows.size())));
        int[] widths = new int[query.columns().size()];
        for (String[] row : shown) {
            for (int i = 0; i < widths.length; i++) {
                widths[i] = Math.max(widths[i], row[i] == null ? 4 : row[i].length());
            }
        }
        for (String[] row : shown) {
            StringBuilder line = new StringBuilder(" ");
            for (int i = 0; i < widths.length; i++) {
                String value = row[i] == null ? "null" : row[i];
                line.append(" ").append(" ".repeat(widths[i] - value.length())).append(value);
            }
            out.println(line);
        }
        if (rows.size() > mostRows) {
            out.println("  ... " + (rows.size() - mostRows) + " more rows");
        }
    }

    /**
     * Writes all rows as CSV with a header line; null is an empty field. The file appears only when
     * complete.
     */
    public void write(Path file) throws IOException {
        try (WholeFile whole = WholeFile.create(file)) {
            try (CsvWriter csv =
                    CsvWriter.builder().lineDelimiter(LineDelimiter.LF).build(whole.open())) {
                csv.writeRecord(header());
                rows.forEach(csv::writeRecord);
            }
            whole.commit();
        }
    }
}
