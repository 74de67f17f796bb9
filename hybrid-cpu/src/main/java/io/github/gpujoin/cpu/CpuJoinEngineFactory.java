package io.github.gpujoin.cpu;

import io.github.gpujoin.core.engine.ForkableJoinEngine;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.region.MemoryAccount;
import java.lang.management.ManagementFactory;

/** Makes {@link CpuJoinEngine}s, of which all of a process keep one account of their memory. */
public final class CpuJoinEngineFactory implements JoinEngineFactory {

    public static final long BY_MACHINE = -1;

    /** What {@link #memoryUse()} counts. */
    private static final MemoryAccount PROCESS = new MemoryAccount("host");

    private static final long serialVersionUID = 1L;

    private final long budgetBytes;

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
        return new CpuJoinEngine(spec, PROCESS.within(limitBytes()));
    }
}
