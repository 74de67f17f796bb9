// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql.plan;

import org.apache.calcite.rel.RelNode;
import org.apache.flink.table.planner.plan.nodes.physical.batch.BatchPhysicalExchange;
import org.apache.flink.table.planner.plan.nodes.physical.batch.BatchPhysicalSort;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalExchange;

/** Exchanges in front of a join. */
final class Exchanges {

    private Exchanges() {}

    /**
     * Returns the input of an exchange. The join packs rows in the task of their producer and then
     * sends chunks by key, so that a second exchange of rows would be a waste. As with the
     * planner's exchange, changes of one row keep their order if one task produces them.
     */
    static RelNode without(RelNode input) {
        return input instanceof StreamPhysicalExchange ? input.getInput(0) : input;
    }

    /** Returns the input of the exchange and the sort of a join of batch mode. */
    static RelNode withoutOfBatch(RelNode input) {
        RelNode unsorted = input instanceof BatchPhysicalSort ? input.getInput(0) : input;
        return unsorted instanceof BatchPhysicalExchange ? unsorted.getInput(0) : unsorted;
    }
}
