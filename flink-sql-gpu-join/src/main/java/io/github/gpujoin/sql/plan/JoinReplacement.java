// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql.plan;

import org.apache.calcite.rel.RelNode;

/** Replaces one kind of Flink's join nodes. */
interface JoinReplacement {

    /**
     * Returns the node that runs instead of a node: one of this project, or Flink's own with the
     * reason why it stays. Returns the same node if it is of another kind.
     */
    RelNode apply(RelNode rel);
}
