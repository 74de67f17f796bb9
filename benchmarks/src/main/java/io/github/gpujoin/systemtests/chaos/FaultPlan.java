// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.systemtests.chaos;

import io.github.gpujoin.benchmarks.workload.KeyDomain;
import io.github.gpujoin.systemtests.chaos.Fault.Action;
import io.github.gpujoin.systemtests.chaos.Fault.Phase;
import io.github.gpujoin.systemtests.chaos.Fault.Point;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;

/**
 * What happens in one run, drawn from a seed: the same seed and number give the same plan.
 *
 * @param partitioned whether one dimension is partitioned, so that its state is keyed; else all are
 *     replicated
 * @param unaligned whether barriers may overtake records, where an edge allows it
 * @param faults in the order in which they come
 */
record FaultPlan(boolean partitioned, boolean unaligned, List<Fault> faults) {

    private static final int MAX_FAULTS = 3;

    /** Half of all faults; the others share the rest. */
    private static final double KILLS = 0.5;

    private static final int STOP_MS = 90_000;

    FaultPlan {
        faults = List.copyOf(faults);
    }

    /**
     * The plan of the {@linkplain Fault#COMMON common} faults.
     *
     * @param run number of the run under this seed
     */
    static FaultPlan draw(long seed, int run) {
        return draw(seed, run, false);
    }

    /**
     * @param allFaults whether all kinds of faults are drawn, equally often
     */
    static FaultPlan draw(long seed, int run, boolean allFaults) {
        // Mixed: streams of seeds that lie in a row would be parts of one another.
        SplittableRandom random = new SplittableRandom(KeyDomain.mix(KeyDomain.mix(seed) + run));
        boolean partitioned = random.nextBoolean();
        boolean unaligned = random.nextBoolean();
        int count = 1 + random.nextInt(MAX_FAULTS);
        List<Fault> faults = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            faults.add(drawFault(random, allFaults));
        }
        faults.sort(Comparator.comparing(Fault::phase));
        return new FaultPlan(partitioned, unaligned, faults);
    }

    /** The same faults over a transport; rings carry the chunks of a partitioned dimension only. */
    FaultPlan over(String transport) {
        return new FaultPlan(partitioned || !transport.equals("flink"), unaligned, faults);
    }

    private static Fault drawFault(SplittableRandom random, boolean all) {
        Phase phase = random.nextBoolean() ? Phase.LOAD : Phase.JOIN;
        Point point = Point.values()[random.nextInt(Point.values().length)];
        int offsetMs = random.nextInt(phase == Phase.LOAD ? 800 : 1500);
        Action action = all ? anyOf(random) : commonOf(random);
        int subtask = random.nextInt(StarRowsJob.PARALLELISM);
        return new Fault(phase, point, offsetMs, action, subtask, durationMs(action, random));
    }

    private static Action anyOf(SplittableRandom random) {
        return Action.values()[random.nextInt(Action.values().length)];
    }

    private static Action commonOf(SplittableRandom random) {
        return random.nextDouble() < KILLS
                ? Action.KILL
                : Fault.COMMON.get(1 + random.nextInt(Fault.COMMON.size() - 1));
    }

    /**
     * Some of them outlast the heartbeat timeout: the JobManager then takes the process for dead.
     */
    private static int durationMs(Action action, SplittableRandom random) {
        if (action == Action.STOP) {
            return STOP_MS;
        }
        int longestMs =
                switch (action) {
                    case KILL, KILL_JOBMANAGER, STOP -> 0;
                    case PAUSE, CUT_CONNECTIONS, STALL_CONNECTIONS, CUT_TASKMANAGERS ->
                            3 * ChaosCluster.HEARTBEAT_TIMEOUT_MS / 2;
                    case SLOW, SLOW_CONNECTIONS, FILL_DESCRIPTORS, FILL_DISK -> 3_000;
                };
        return longestMs == 0 ? 0 : 100 + random.nextInt(longestMs - 100);
    }

    @Override
    public String toString() {
        return "partitioned=%s unaligned=%s faults=%s".formatted(partitioned, unaligned, faults);
    }
}
