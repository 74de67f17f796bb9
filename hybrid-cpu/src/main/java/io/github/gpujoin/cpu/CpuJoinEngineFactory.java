package io.github.gpujoin.cpu;

import io.github.gpujoin.core.engine.ForkableJoinEngine;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.core.region.MemoryAccount;
import io.github.gpujoin.core.region.MemoryReservations;
import java.lang.management.ManagementFactory;

/** Makes {@link CpuJoinEngine}s, of which all of a process keep one account of their memory. */
public final class CpuJoinEngineFactory implements JoinEngineFactory {

    public static final long BY_MACHINE = -1;

    /** What {@link #memoryUse()} counts. */
    private static final MemoryAccount PROCESS = new MemoryAccount("host");

    private static final long serialVersionUID = 1L;

    /** In place of a budget: memory is reserved where the engines run. */
    private static final long MANAGED = -2;

    private final long budgetBytes;

    /** Null before {@link #within}, and where there is a budget. */
    private final transient MemoryReservations reservations;

    /** Within half of the machine's memory. */
    public CpuJoinEngineFactory() {
        this(BY_MACHINE);
    }

    /**
     * @param budgetBytes off-heap memory that all CPU engines of a process may take together; an
     *     engine of this factory is refused what would bring the total over it; {@link #BY_MACHINE}
     *     for half of the memory of the machine (of its container, where it is in one)
     */
    public CpuJoinEngineFactory(long budgetBytes) {
        if (budgetBytes < BY_MACHINE) {
            throw new IllegalArgumentException(
                    "a memory budget is not negative, or -1 to go by the machine: budgetBytes="
                            + budgetBytes);
        }
        this.budgetBytes = budgetBytes;
        this.reservations = null;
    }

    private CpuJoinEngineFactory(MemoryReservations reservations) {
        this.budgetBytes = MANAGED;
        this.reservations = reservations;
    }

    /** Engines whose memory is reserved first; it makes none before {@link #within}. */
    public static CpuJoinEngineFactory managed() {
        return new CpuJoinEngineFactory((MemoryReservations) null);
    }

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

    /** Off-heap memory of all engines that factories of this process made. */
    public static MemoryAccount memoryUse() {
        return PROCESS;
    }

    @Override
    public String engineName() {
        return "cpu";
    }

    @Override
    public ForkableJoinEngine create(JoinSpec spec) {
        return new CpuJoinEngine(spec, allocator());
    }
}
