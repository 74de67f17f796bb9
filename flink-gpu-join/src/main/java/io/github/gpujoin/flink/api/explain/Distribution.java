// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api.explain;

import org.apache.flink.annotation.PublicEvolving;

/** Where the rows of a dimension go. */
@PublicEvolving
public enum Distribution {
    /** Every subtask gets all of them. */
    REPLICATED,
    /** Every subtask gets the radix partitions that are its key groups. */
    PARTITIONED,
    /** Partitioned while it is measured, then replicated if it is small. Known at run time. */
    MEASURED
}
