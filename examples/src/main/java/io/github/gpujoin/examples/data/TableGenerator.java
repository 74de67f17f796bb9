// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.data;

import io.github.gpujoin.examples.tbl.TblTable;
import java.io.IOException;

/** Makes the tables of a benchmark at one scale factor; the same bytes every time. */
interface TableGenerator {

    /** Writes one table; tables do not depend on each other having been written. */
    void write(TblTable table, TblWriter out) throws IOException;
}
