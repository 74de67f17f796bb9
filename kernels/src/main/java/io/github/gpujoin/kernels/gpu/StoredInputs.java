// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.bulk.JoinSide;
import java.util.List;
import java.util.Map;

/**
 * Both inputs of a join outside device memory.
 *
 * @param joined runs of each partition; all rows of a key are in the same partition
 * @param unjoined runs of rows without a match
 */
record StoredInputs(
        Map<JoinSide, List<List<StoredRun>>> joined, Map<JoinSide, List<StoredRun>> unjoined) {

    int partitions() {
        return joined.get(JoinSide.LEFT).size();
    }
}
