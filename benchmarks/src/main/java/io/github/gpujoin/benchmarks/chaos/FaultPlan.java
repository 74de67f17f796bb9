package io.github.gpujoin.benchmarks.chaos;

import io.github.gpujoin.benchmarks.chaos.Fault.Action;
import io.github.gpujoin.benchmarks.chaos.Fault.Phase;
import io.github.gpujoin.benchmarks.chaos.Fault.Point;
import io.github.gpujoin.benchmarks.workload.KeyDomain;
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

    private static final Action[] ACTIONS = Action.values();

    FaultPlan {
        faults = List.copyOf(faults);
    }

    /**
     * @param run number of the run under this seed
     */
    static FaultPlan draw(long seed, int run) {
        // Mixed: streams of seeds that lie in a row would be parts of one another.
        SplittableRandom random = new SplittableRandom(KeyDomain.mix(KeyDomain.mix(seed) + run));
        boolean partitioned = random.nextBoolean();
        boolean unaligned = random.nextBoolean();
        int count = 1 + random.nextInt(MAX_FAULTS);
        List<Fault> faults = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            faults.add(drawFault(random));
        }
        faults.sort(Comparator.comparing(Fault::phase));
        return new FaultPlan(partitioned, unaligned, faults);
    }

    private static Fault drawFault(SplittableRandom random) {
        Phase phase = random.nextBoolean() ? Phase.LOAD : Phase.JOIN;
        Point point = Point.values()[random.nextInt(Point.values().length)];
        int offsetMs = random.nextInt(phase == Phase.LOAD ? 800 : 1500);
        Action action =
                random.nextDouble() < KILLS
                        ? Action.KILL
                        : ACTIONS[1 + random.nextInt(ACTIONS.length - 1)];
        int subtask = random.nextInt(StarRowsJob.PARALLELISM);
        return new Fault(phase, point, offsetMs, action, subtask, durationMs(action, random));
    }

    /**
     * Some of them outlast the heartbeat timeout: the JobManager then takes the process for dead.
     */
    private static int durationMs(Action action, SplittableRandom random) {
        int longestMs =
                switch (action) {
                    case KILL -> 0;
                    case PAUSE, CUT_CONNECTIONS, STALL_CONNECTIONS ->
                            3 * ChaosCluster.HEARTBEAT_TIMEOUT_MS / 2;
                    case SLOW, SLOW_CONNECTIONS -> 3_000;
                };
        return longestMs == 0 ? 0 : 100 + random.nextInt(longestMs - 100);
    }

    @Override
    public String toString() {
        return "partitioned=%s unaligned=%s faults=%s".formatted(partitioned, unaligned, faults);
    }
}
