// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.data;

import io.github.gpujoin.examples.tbl.TblTable;
import io.trino.tpch.TpchEntity;
import io.trino.tpch.TpchTable;
import java.io.IOException;

/** Generator of the TPC-H tables: the rows of {@code io.trino.tpch}, which are dbgen's. */
final class TpchGenerator implements TableGenerator {

    private final double scaleFactor;

    TpchGenerator(double scaleFactor) {
        this.scaleFactor = scaleFactor;
    }

    @Override
    public void write(TblTable table, TblWriter out) throws IOException {
        for (TpchEntity row : TpchTable.getTable(table.name()).createGenerator(scaleFactor, 1, 1)) {
            out.line(row.toLine());
        }
    }
}
