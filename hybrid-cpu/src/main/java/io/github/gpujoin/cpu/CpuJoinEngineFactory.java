// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu;

import io.github.gpujoin.core.engine.ForkableJoinEngine;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.core.region.MemoryAccount;
import io.github.gpujoin.core.region.MemoryReservations;
import java.lang.management.ManagementFactory;
import org.jspecify.annotations.Nullable;

/** Creates {@link CpuJoinEngine}s; all engines of a process share one memory account. */
public final class CpuJoinEngineFactory implements JoinEngineFactory {

    /** Budget of half of the memory of the machine or its container. */
    public static final long BY_MACHINE = -1;

    /** Counts the memory that {@link #memoryUse()} returns. */
    private static final MemoryAccount PROCESS = new MemoryAccount("host");

    private static final long serialVersionUID = 1L;

    /** Instead of a budget: memory is reserved where the engines run. */
    private static final long MANAGED = -2;

    private final long budgetBytes;

    /** Null before {@link #within}, and if there is a budget. */
    private final transient @Nullable MemoryReservations reservations;

    /** Limits engines to half of the machine memory. */
    public CpuJoinEngineFactory() {
        this(BY_MACHINE);
    }

    /**
     * Limits engines to a budget.
     *
     * @param budgetBytes native memory of all CPU engines of a process together, beyond which an
     *     engine of this factory gets none; {@link #BY_MACHINE} for half of the memory of the
     *     machine or its container
     * @throws IllegalArgumentException if the budget is negative and not {@link #BY_MACHINE}
     */
    public CpuJoinEngineFactory(long budgetBytes) {
        if (budgetBytes < BY_MACHINE) {
            throw new IllegalArgumentException(
                    "Memory budget is negative; -1 selects half of the machine memory: budgetBytes="
                            + budgetBytes);
        }
        this.budgetBytes = budgetBytes;
        this.reservations = null;
    }

    private CpuJoinEngineFactory(@Nullable MemoryReservations reservations) {
        this.budgetBytes = MANAGED;
        this.reservations = reservations;
    }

    /**
     * Returns a factory of engines that reserve their memory. Call {@link #within} before {@link
     * #create}, in the process that creates the engines: serialization drops the reservations.
     */
    public static CpuJoinEngineFactory managed() {
        return new CpuJoinEngineFactory((MemoryReservations) null);
    }

    /** {@inheritDoc} A factory with a budget returns itself. */
    @Override
    public CpuJoinEngineFactory within(MemoryReservations hostMemory) {
        return budgetBytes == MANAGED ? new CpuJoinEngineFactory(hostMemory) : this;
    }

    private Allocator allocator() {
        if (budgetBytes != MANAGED) {
            return PROCESS.within(limitBytes());
        }
        if (reservations == null) {
            throw new IllegalStateException(
                    "The engine has no memory yet. Call within(...) before create(...).");
        }
        return PROCESS.within(reservations);
    }

    private long limitBytes() {
        if (budgetBytes != BY_MACHINE) {
            return budgetBytes;
        }
        var machine =
                ManagementFactory.getPlatformMXBean(com.sun.management.OperatingSystemMXBean.class);
        return machine.getTotalMemorySize() / 2;
    }

    /**
     * Returns the native memory of all engines created by factories of this process and class
     * loader.
     */
    public static MemoryAccount memoryUse() {
        return PROCESS;
    }

    @Override
    public String engineName() {
        return "cpu";
    }

    /**
     * {@inheritDoc}
     *
     * @throws IllegalStateException if the factory is {@link #managed} and has no reservations
     */
    @Override
    public ForkableJoinEngine create(JoinSpec spec) {
        return new CpuJoinEngine(spec, allocator());
    }
}
