// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.reference;

import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.core.symmetric.MatchCondition;
import io.github.gpujoin.core.symmetric.SymmetricJoin;
import io.github.gpujoin.core.symmetric.SymmetricJoinConformance;
import io.github.gpujoin.core.symmetric.SymmetricJoinSpec;

class ReferenceSymmetricJoinTest extends SymmetricJoinConformance {

    @Override
    protected SymmetricJoin create(
            SymmetricJoinSpec spec, MatchCondition condition, MemoryReservations hostMemory) {
        return new ReferenceSymmetricJoinFactory().create(spec, condition, hostMemory, null);
    }
}
