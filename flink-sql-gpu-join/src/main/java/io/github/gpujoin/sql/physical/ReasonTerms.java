// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql.physical;

import io.github.gpujoin.sql.explain.SqlReason;
import org.apache.calcite.rel.RelWriter;

/** The reason of a join that stays Flink's, as EXPLAIN shows it. */
final class ReasonTerms {

    private ReasonTerms() {}

    static RelWriter add(RelWriter writer, SqlReason reason) {
        return writer.item("gpuJoin", reason.name() + ": " + reason.sentence());
    }
}
