// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.hybrid;

import io.github.gpujoin.benchmarks.join.Contender;
import io.github.gpujoin.benchmarks.join.ContenderResult;
import io.github.gpujoin.benchmarks.join.Rounds;
import io.github.gpujoin.core.engine.ForkableJoinEngine;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.region.MemoryAccount;
import io.github.gpujoin.cpu.CpuJoinEngine;
import io.github.gpujoin.kernels.gpu.GpuJoinEngineFactory;
import io.github.gpujoin.kernels.gpu.GpuOptions;
import io.github.gpujoin.kernels.gpu.MemoryBudget;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** Rates of joins whose tables fit a budget in part, and of the CPU engine with all the memory. */
public final class HybridBench {

    /** Whose memory the budget is. */
    public enum Budget {
        /** The host's; what does not fit is spilled. */
        HOST,
        /** A device's for which a CPU engine stands in; what does not fit is the host's. */
        CPU_AS_DEVICE,
        /** A GPU's; what does not fit is the host's. */
        GPU
    }

    private final long probeRows;
    private final int rounds;
    private final Budget budget;
    private final Consumer<String> progress;

    /**
     * @param progress told of each run
     */
    public HybridBench(long probeRows, int rounds, Budget budget, Consumer<String> progress) {
        this.probeRows = probeRows;
        this.rounds = rounds;
        this.budget = budget;
        this.progress = progress;
    }

    /** One build side, and budgets in percent of what its tables take while they are made. */
    public List<ContenderResult> byBudget(int buildRows, List<Integer> percents) throws Exception {
        PartitionedTuples tuples = new PartitionedTuples(buildRows, probeRows);
        long needed = neededBytes(tuples);
        List<Contender> contenders = new ArrayList<>();
        contenders.add(new WholeContender("cpu-" + buildRows, tuples));
        for (int percent : percents) {
            contenders.add(contender(tuples, percent, needed * percent / 100));
        }
        return new Rounds(contenders, progress).run(rounds);
    }

    /** Build sides with one budget, which all tables of {@code fittingRows} rows need. */
    public List<ContenderResult> bySize(int fittingRows, List<Integer> buildRows) throws Exception {
        long budget = neededBytes(new PartitionedTuples(fittingRows, 1));
        List<ContenderResult> results = new ArrayList<>();
        for (int rows : buildRows) {
            PartitionedTuples tuples = new PartitionedTuples(rows, probeRows);
            int percent = (int) Math.round(100.0 * fittingRows / rows);
            List<Contender> contenders =
                    List.of(
                            new WholeContender("cpu-" + rows, tuples),
                            contender(tuples, percent, budget));
            results.addAll(new Rounds(contenders, progress).run(rounds));
        }
        return results;
    }

    private static long neededBytes(PartitionedTuples tuples) {
        MemoryAccount account = new MemoryAccount("host");
        WholeContender.loaded(tuples, account.within(Long.MAX_VALUE)).close();
        return account.peakBytes();
    }

    private Contender contender(PartitionedTuples tuples, int percent, long budgetBytes) {
        return new HybridContender(
                "hybrid-" + tuples.buildRows() + "-" + percent,
                tuples,
                device(budgetBytes),
                new CpuEngines(budget == Budget.HOST ? budgetBytes : Long.MAX_VALUE),
                Map.of(
                        "build_rows",
                        tuples.buildRows(),
                        "budget_percent",
                        (long) percent,
                        "budget_bytes",
                        budgetBytes));
    }

    /** Null where there is none. */
    private JoinEngineFactory device(long budgetBytes) {
        return switch (budget) {
            case HOST -> null;
            case CPU_AS_DEVICE -> new CpuEngines(budgetBytes);
            case GPU ->
                    new GpuJoinEngineFactory(
                            GpuOptions.defaults()
                                    .withMemory(
                                            new MemoryBudget(
                                                    budgetBytes, MemoryBudget.BY_MACHINE)));
        };
    }

    /** CPU engines, of which those of each join have a budget of their own. */
    private record CpuEngines(long budgetBytes) implements JoinEngineFactory {

        @Override
        public String engineName() {
            return "cpu";
        }

        @Override
        public ForkableJoinEngine create(JoinSpec spec) {
            return new CpuJoinEngine(spec, new MemoryAccount("host").within(budgetBytes));
        }
    }
}
