// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.reference;

import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.core.symmetric.MultiJoinCondition;
import io.github.gpujoin.core.symmetric.MultiJoinConformance;
import io.github.gpujoin.core.symmetric.MultiJoinSpec;
import io.github.gpujoin.core.symmetric.SymmetricJoin;

/** The tests of every join of several inputs, against the definition itself. */
class ReferenceMultiJoinTest extends MultiJoinConformance {

    @Override
    protected SymmetricJoin create(
            MultiJoinSpec spec, MultiJoinCondition condition, MemoryReservations hostMemory) {
        return new ReferenceSymmetricJoinFactory().create(spec, condition, hostMemory, null);
    }
}
