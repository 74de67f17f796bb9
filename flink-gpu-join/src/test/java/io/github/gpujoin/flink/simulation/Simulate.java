// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.simulation;

import io.github.gpujoin.core.layout.SlotHash;
import io.github.gpujoin.kernels.gpu.HostKernels;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiFunction;

/** {@code bin/simulate}: runs lives of many seeds, on all processors. */
public final class Simulate {

    /** Usual number of failures for which a shorter life is looked for. */
    static final int SHRUNK = 3;

    static {
        // Batches of versions and facts end by slot hashes, so a seed repeats only if these do.
        System.setProperty(SlotHash.SEED_PROPERTY, "1");
    }

    private Simulate() {}

    /**
     * Runs lives.
     *
     * @param shrunk failures for which a shorter life is looked for; the others are as they came
     * @return what went wrong, by seed
     */
    static Map<Long, String> run(long firstSeed, long count, int threads, int shrunk) {
        AtomicLong next = new AtomicLong(firstSeed);
        Map<Long, String> failures = new ConcurrentSkipListMap<>();
        List<Thread> workers = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            Thread worker =
                    new Thread(
                            () -> work(next, firstSeed + count, failures, shrunk),
                            "simulation " + i);
            worker.start();
            workers.add(worker);
        }
        for (Thread worker : workers) {
            try {
                worker.join();
            } catch (InterruptedException e) {
                next.set(firstSeed + count);
                Thread.currentThread().interrupt();
            }
        }
        return new TreeMap<>(failures);
    }

    private static void work(AtomicLong next, long end, Map<Long, String> failures, int shrunk) {
        BiFunction<Long, String, String> lives = load();
        long seed;
        while ((seed = next.getAndIncrement()) < end) {
            String failure;
            try {
                failure =
                        lives.apply(
                                seed,
                                failures.size() < shrunk ? Simulation.SHRINK : Simulation.JUDGE);
            } catch (RuntimeException | Error e) {
                failure = "the simulation itself failed: " + e;
            }
            if (failure != null) {
                failures.put(seed, failure);
            }
        }
    }

    /** A simulation on this thread's virtual time. */
    @SuppressWarnings("unchecked")
    private static BiFunction<Long, String, String> load() {
        ClassLoader loader = new VirtualTimeLoader(Simulate.class.getClassLoader());
        Thread.currentThread().setContextClassLoader(loader);
        try {
            return (BiFunction<Long, String, String>)
                    loader.loadClass(Simulation.class.getName())
                            .getDeclaredConstructor()
                            .newInstance();
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** What the life of a seed comes to, run in a loader of its own. */
    static String trace(long seed) {
        ClassLoader before = Thread.currentThread().getContextClassLoader();
        try {
            return load().apply(seed, Simulation.TRACE);
        } finally {
            Thread.currentThread().setContextClassLoader(before);
        }
    }

    /** How to run a life again. */
    static String replay(long seed) {
        return "bin/simulate --seed " + seed + " --seeds 1";
    }

    /** Prints failures, and ends with status 1 where there are some. */
    public static void main(String[] args) {
        long seed = 0;
        long seeds = 1_000;
        int threads = Runtime.getRuntime().availableProcessors();
        int shrunk = SHRUNK;
        for (int i = 0; i < args.length; i += 2) {
            if (args[i].equals("--help")) {
                usage();
                return;
            }
            String value = i + 1 < args.length ? args[i + 1] : "";
            switch (args[i]) {
                case "--seed" -> seed = number(args[i], value, 0);
                case "--seeds" -> seeds = number(args[i], value, 1);
                case "--shrink" -> shrunk = (int) number(args[i], value, 0);
                case "--threads" -> threads = (int) number(args[i], value, 1);
                default -> fail("Unknown option: option=" + args[i]);
            }
        }
        long startNs = System.nanoTime();
        Map<Long, String> failures = run(seed, seeds, threads, shrunk);
        failures.forEach(
                (failed, failure) ->
                        System.out.printf(
                                "seed %d: %s%n  replay: %s%n", failed, failure, replay(failed)));
        if (HostKernels.whyUnavailable() != null) {
            System.out.println(
                    "Lives with the GPU engine ran on the CPU engine: "
                            + HostKernels.whyUnavailable());
        }
        System.out.printf(
                "RESULT simulate seeds=%d failed=%d seconds=%.1f%n",
                seeds, failures.size(), (System.nanoTime() - startNs) / 1e9);
        System.exit(failures.isEmpty() ? 0 : 1);
    }

    private static long number(String option, String value, long least) {
        try {
            long number = Long.parseLong(value);
            if (number >= least) {
                return number;
            }
        } catch (NumberFormatException e) {
            // Reported below.
        }
        fail("Option needs a number from " + least + " on: " + option + "=" + value);
        return least;
    }

    private static void fail(String message) {
        System.err.println("simulate: " + message + ". See bin/simulate --help.");
        System.exit(2);
    }

    private static void usage() {
        System.out.println(
                """
                Runs simulated lives of jobs with a join, one for each seed.
                usage: bin/simulate [--seeds N] [--seed FIRST] [--shrink N] [--threads N]
                  --seeds    number of lives (1000)
                  --seed     seed of the first (0)
                  --shrink   failures for which a shorter life is looked for (3)
                  --threads  lives at the same time (all processors)""");
    }
}
