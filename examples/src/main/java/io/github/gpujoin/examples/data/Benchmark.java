// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.data;

import io.github.gpujoin.examples.tbl.TblTable;
import java.util.List;
import java.util.Locale;

/** The benchmarks whose tables can be read and made. */
public enum Benchmark {
    SSB(SsbTables.ALL),
    TPCH(TpchTables.ALL);

    private final List<TblTable> tables;

    Benchmark(List<TblTable> tables) {
        this.tables = tables;
    }

    public List<TblTable> tables() {
        return tables;
    }

    /** Short lower-case name, as in the names of data directories. */
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
