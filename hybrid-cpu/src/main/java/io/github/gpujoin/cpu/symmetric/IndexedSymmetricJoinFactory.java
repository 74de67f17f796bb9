// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.symmetric;

import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.core.symmetric.MatchCondition;
import io.github.gpujoin.core.symmetric.MatchIndex;
import io.github.gpujoin.core.symmetric.MatchIndexFactory;
import io.github.gpujoin.core.symmetric.MultiJoinCondition;
import io.github.gpujoin.core.symmetric.MultiJoinSpec;
import io.github.gpujoin.core.symmetric.SymmetricInput;
import io.github.gpujoin.core.symmetric.SymmetricJoin;
import io.github.gpujoin.core.symmetric.SymmetricJoinFactory;
import io.github.gpujoin.core.symmetric.SymmetricJoinSpec;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Creates symmetric joins of two inputs that look rows up on a device. Multi-way joins are left to
 * the CPU: their search visits chains of all inputs in an order that depends on the rows it finds.
 *
 * @param devices creates the indexes
 */
public record IndexedSymmetricJoinFactory(MatchIndexFactory devices)
        implements SymmetricJoinFactory {

    private static final long serialVersionUID = 1L;

    @Override
    public String joinName() {
        return devices.deviceName();
    }

    /**
     * {@inheritDoc}
     *
     * @throws io.github.gpujoin.core.engine.EngineUnavailableException if the device cannot be used
     *     or has no memory
     */
    @Override
    public SymmetricJoin create(
            SymmetricJoinSpec spec,
            MatchCondition condition,
            MemoryReservations hostMemory,
            @Nullable Path spillDirectory) {
        IndexMemory memory = new IndexMemory(hostMemory);
        MatchIndex device = devices.create(removesRows(spec.inputs()), memory);
        try {
            IndexedSymmetricJoin join =
                    new IndexedSymmetricJoin(spec, condition, device, hostMemory, spillDirectory);
            memory.spillBy(join.memory);
            return join;
        } catch (Throwable e) {
            device.close();
            throw e;
        }
    }

    /**
     * {@inheritDoc}
     *
     * @throws io.github.gpujoin.core.engine.EngineUnavailableException always
     */
    @Override
    public SymmetricJoin create(
            MultiJoinSpec spec,
            MultiJoinCondition condition,
            MemoryReservations hostMemory,
            @Nullable Path spillDirectory) {
        throw devices.multiJoinUnsupported(spec.inputs().size());
    }

    private static List<Boolean> removesRows(List<SymmetricInput> inputs) {
        return inputs.stream()
                .map(input -> input.isChangelog() || input.timeToLiveMs() != SymmetricInput.FOREVER)
                .toList();
    }
}
