// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.etl.check;

import io.github.gpujoin.etl.job.LakeTable;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.Table;
import org.apache.iceberg.data.IcebergGenerics;
import org.apache.iceberg.data.Record;
import org.apache.iceberg.hadoop.HadoopTables;
import org.apache.iceberg.io.CloseableIterable;

/** Reads the lake table with Iceberg's own reader, without Flink. */
public final class TableResults {

    private TableResults() {}

    /**
     * Adds all rows of the table's current snapshot to a check.
     *
     * @param warehouse folder of the catalog, as a URI
     */
    public static void read(String warehouse, ResultCheck check) throws IOException {
        Table table = new HadoopTables(new Configuration()).load(LakeTable.location(warehouse));
        try (CloseableIterable<Record> rows = IcebergGenerics.read(table).build()) {
            for (Record row : rows) {
                check.add(row(row));
            }
        }
    }

    private static ResultRow row(Record row) {
        return new ResultRow(
                (Long) row.getField("order_id"),
                (Integer) row.getField("customer_id"),
                (Integer) row.getField("product_id"),
                (Integer) row.getField("quantity"),
                (Integer) row.getField("customer_version"),
                (String) row.getField("segment"),
                (Integer) row.getField("product_version"),
                (Integer) row.getField("price_cents"));
    }
}
