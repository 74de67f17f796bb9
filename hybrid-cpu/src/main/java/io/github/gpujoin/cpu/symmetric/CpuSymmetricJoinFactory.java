// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.symmetric;

import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.core.symmetric.MatchCondition;
import io.github.gpujoin.core.symmetric.MultiJoinCondition;
import io.github.gpujoin.core.symmetric.MultiJoinSpec;
import io.github.gpujoin.core.symmetric.SymmetricJoin;
import io.github.gpujoin.core.symmetric.SymmetricJoinFactory;
import io.github.gpujoin.core.symmetric.SymmetricJoinSpec;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Creates symmetric joins that run on the thread of their caller. */
public final class CpuSymmetricJoinFactory implements SymmetricJoinFactory {

    private static final long serialVersionUID = 1L;

    @Override
    public String joinName() {
        return "cpu";
    }

    @Override
    public SymmetricJoin create(
            SymmetricJoinSpec spec,
            MatchCondition condition,
            MemoryReservations hostMemory,
            @Nullable Path spillDirectory) {
        return new CpuSymmetricJoin(spec, condition, hostMemory, spillDirectory);
    }

    @Override
    public SymmetricJoin create(
            MultiJoinSpec spec,
            MultiJoinCondition condition,
            MemoryReservations hostMemory,
            @Nullable Path spillDirectory) {
        return new CpuMultiJoin(spec, condition, hostMemory, spillDirectory);
    }
}
