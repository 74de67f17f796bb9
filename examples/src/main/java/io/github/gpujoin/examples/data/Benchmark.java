// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.data;

import io.github.gpujoin.examples.tbl.TblTable;
import java.util.List;
import java.util.Locale;

/** Benchmarks whose tables the examples can generate and read. */
public enum Benchmark {
    /** Star Schema Benchmark. */
    SSB(SsbTables.ALL),
    /** TPC-H. */
    TPCH(TpchTables.ALL);

    private final List<TblTable> tables;

    Benchmark(List<TblTable> tables) {
        this.tables = tables;
    }

    public List<TblTable> tables() {
        return tables;
    }

    /** Returns the short lower-case name, as in the names of data directories. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    TableGenerator generator(double scaleFactor) {
        return switch (this) {
            case SSB -> new SsbGenerator(scaleFactor);
            case TPCH -> new TpchGenerator(scaleFactor);
        };
    }
}
