// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.simulation;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BiFunction;

/**
 * Runs lives by their seeds, on one thread. To be loaded by a {@link VirtualTimeLoader}, for which
 * all that goes in and out is of the JDK's classes.
 */
public final class Simulation implements BiFunction<Long, String, String> {

    /** Tells what goes wrong. */
    static final String JUDGE = "judge";

    /** Tells what goes wrong in the shortest life found that fails alike; takes some seconds. */
    static final String SHRINK = "shrink";

    /** Tells what the life came to, with all its results in their order. */
    static final String TRACE = "trace";

    /** Plans of jobs that are kept; more would take memory, fewer time. */
    private static final int PLANS = 512;

    /** A plan, or why the join refuses the job. */
    private record Planned(JobPlan job, String refusal) {}

    private final Map<JobShape, Planned> plans =
            new LinkedHashMap<>(16, 0.75f, true) {
                private static final long serialVersionUID = 1L;

                @Override
                protected boolean removeEldestEntry(Map.Entry<JobShape, Planned> eldest) {
                    return size() > PLANS;
                }
            };

    private String trace = "";

    /**
     * Runs the life of a seed.
     *
     * @param mode {@link #JUDGE}, {@link #SHRINK} or {@link #TRACE}
     * @return what went wrong, null where nothing did; or the trace
     */
    @Override
    public String apply(Long seed, String mode) {
        Scenario scenario = Scenario.of(seed);
        String failure = run(scenario);
        if (mode.equals(TRACE)) {
            return trace + ", failure=" + failure;
        }
        if (failure == null || mode.equals(JUDGE)) {
            return failure == null ? null : failure + "\n" + scenario.describe();
        }
        Scenario shortest = new Shrinker(this::run).shrink(scenario, failure);
        return run(shortest) + "\n" + shortest.describe();
    }

    private String run(Scenario scenario) {
        Planned planned = plans.computeIfAbsent(scenario.shape(), Simulation::plan);
        if (planned.job() == null) {
            trace = "refused: " + planned.refusal();
            return null;
        }
        Life ended = null;
        try (Life life = new Life(planned.job(), scenario)) {
            ended = life;
            life.run();
            return null;
        } catch (LifeFailure e) {
            return e.getMessage();
        } finally {
            trace = String.valueOf(ended);
        }
    }

    private static Planned plan(JobShape shape) {
        try {
            return new Planned(JobPlan.of(shape), null);
        } catch (RuntimeException e) {
            return new Planned(null, e.getMessage());
        }
    }
}
