// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.symmetric;

import io.github.gpujoin.core.symmetric.SymmetricInput;
import io.github.gpujoin.flink.engine.SymmetricJoinOpener;
import java.io.Serializable;
import java.util.List;
import org.apache.flink.api.common.functions.RuntimeContext;
import org.apache.flink.util.IOUtils;

/** What a symmetric join joins. Serialized with the job. */
public interface SymmetricJoinPlan extends Serializable {

    List<SymmetricInput> inputs();

    /** Returns the names of the inputs in the names of states, metrics and uids. */
    List<String> labels();

    /** Returns the kind of the join, for descriptions and the comparison with restored state. */
    String kind();

    /**
     * Opens the conditions of a subtask, which the caller closes.
     *
     * @param context of the join's subtask
     */
    Opened open(RuntimeContext context) throws Exception;

    /**
     * A plan whose conditions are open.
     *
     * @param creator of joins that evaluate the conditions
     */
    record Opened(SymmetricJoinOpener.Creator creator, List<RowPairCondition> conditions)
            implements AutoCloseable {

        @Override
        public void close() throws Exception {
            IOUtils.closeAll(conditions);
        }
    }
}
