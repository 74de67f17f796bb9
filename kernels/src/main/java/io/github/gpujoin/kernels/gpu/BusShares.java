// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Divides the bus of a device among concurrent joins, in proportion to their weights.
 *
 * <p>Start-time fair queueing (Goyal, Vin and Cheng, "Start-time Fair Queuing", SIGCOMM 1996)
 * without a queue: each join has a clock that advances by the bytes of its steps over its weight.
 * The kernel serves steps in the order in which they are posted, so it suffices to limit who may
 * post. While another join wants to post, a step must wait
 *
 * <ul>
 *   <li>if {@link Load#FULL} is in flight, which bounds the time that a step spends behind those of
 *       others; or
 *   <li>if the clock of its join is ahead of the other one's by more than {@link #MAX_LEAD_BYTES}
 *       over the larger of the two weights, and {@link Load#SATURATING} is in flight.
 * </ul>
 *
 * <p>Between these two loads, only the joins that are behind may post. A join wants to post if it
 * has just waited, or had all slots of an engine in flight after its last step, and its results are
 * read as they are ready. While two joins want to post and the bus is busy, their bytes over their
 * weights differ by at most the lead and one step for each thread of the faster join. A join is not
 * limited while no other one wants to post.
 *
 * <p>A join has no claim on what it could not use. The clock of one that returns starts with those
 * that want to post. A step that is posted although its join is ahead moves the others to the lead
 * behind it: they have too few slots for their share.
 *
 * <p>{@link Share#mayPost} takes no lock, except once in {@link #RECOUNT_NS} and when a join
 * returns and has to wait. It may see clocks and counts that are some steps old, which delays or
 * admits as many. All other methods lock this object; those of a step are called under the lock of
 * the ring and do not contend. Thread-safe.
 */
final class BusShares {

    /**
     * What is in flight on a device.
     *
     * @param bytes of so many steps
     * @param steps that are short
     * @param bytesAlone of steps of any number
     */
    private record Load(long bytes, int steps, long bytesAlone) {

        /**
         * Keeps the bus busy: an H200 reads 95 % of its bus with one million plain keys of 8 bytes
         * in flight. The gate of its kernel admits 24 reads at once, so that fewer than twice as
         * many short steps leave room.
         */
        static final Load SATURATING = new Load(8L << 20, 48, 32L << 20);

        /** A bus of 50 GB/s reads the most, 48 MiB, in a millisecond. */
        static final Load FULL = new Load(16L << 20, 96, 48L << 20);

        boolean isReachedBy(long inFlightBytes, int inFlightSteps) {
            return inFlightBytes >= bytesAlone
                    || (inFlightBytes >= bytes && inFlightSteps >= steps);
        }
    }

    /**
     * More than a bus of 60 GB/s reads in {@link #ACTIVE_NS}, so that a join that no longer posts
     * does not delay another one.
     */
    static final long MAX_LEAD_BYTES = 64L << 20;

    /**
     * Time for which a join wants to post, and steps of an engine count as in flight, without a new
     * sign of it. Few steps are in flight for longer.
     */
    static final long ACTIVE_NS = 1_000_000;

    /** Time after which the steps of engines that are no longer active are not counted. */
    static final long RECOUNT_NS = 200_000;

    /** What limits an engine besides other joins. */
    enum Bottleneck {
        /** The reader of its results, some of which are ready. */
        READER,
        /** Facts: slots are free. */
        FACTS,
        /** The device: all slots are in flight. */
        DEVICE
    }

    /** The engines of one join. */
    private static final class Join {

        private final @Nullable UUID name;
        private final double weight;
        private int engineCount;

        /** Bytes posted over the weight, and those that it could not use. */
        private volatile double clock;

        /** When the join last wanted to post. */
        private volatile long wantedNs;

        Join(@Nullable UUID name, double weight, long nowNs) {
            this.name = name;
            this.weight = weight;
            this.wantedNs = nowNs - ACTIVE_NS - 1;
        }

        private boolean wantsToPost(long nowNs) {
            return nowNs - wantedNs <= ACTIVE_NS;
        }

        private boolean isAheadOf(Join other) {
            return clock - other.clock > leadOver(other);
        }

        private double leadOver(Join other) {
            return MAX_LEAD_BYTES / Math.max(weight, other.weight);
        }
    }

    private final LongSupplier nanoClock;
    private final Runnable completions;
    private volatile List<Join> joins = List.of();
    private final List<Share> engines = new ArrayList<>();

    /** Bytes and steps in flight of active engines. */
    private volatile long inFlightBytes;

    private volatile int inFlightSteps;
    private volatile long recountedNs;

    /**
     * @param nanoClock time in nanoseconds, with any origin
     * @param completions reports the steps that are {@linkplain Share#completed complete}, whether
     *     or not their results were read; called without a lock each {@link #RECOUNT_NS} while
     *     joins share the bus, since no step that has to wait may depend on another one's reader
     */
    BusShares(LongSupplier nanoClock, Runnable completions) {
        this.nanoClock = nanoClock;
        this.completions = completions;
    }

    /** The part of one engine in the share of its join. */
    final class Share implements AutoCloseable {

        private final Join join;
        private long bytes;
        private int steps;
        private boolean isActive;

        /** When the engine last waited for the device or for facts. */
        private volatile long activeNs;

        private Share(Join join) {
            this.join = join;
        }

        /** Returns whether no other join uses the device, so that no step has to wait. */
        boolean isAlone() {
            return joins.size() <= 1;
        }

        /**
         * Returns whether a step may be posted now. If not, the engine asks again soon.
         *
         * @param bottleneck of the engine if the step is not posted
         */
        boolean mayPost(Bottleneck bottleneck) {
            List<Join> all = joins;
            if (all.size() <= 1 || !hasInFlight(Load.SATURATING)) {
                return true;
            }
            long nowNs = nanoClock.getAsLong();
            if (nowNs - recountedNs > RECOUNT_NS) {
                completions.run();
                recount(nowNs);
            }
            boolean isFull = hasInFlight(Load.FULL);
            boolean isSaturated = hasInFlight(Load.SATURATING);
            for (Join other : all) {
                if (other != join
                        && other.wantsToPost(nowNs)
                        && (isFull || (isSaturated && join.isAheadOf(other)))) {
                    waits(bottleneck);
                    return false;
                }
            }
            return true;
        }

        /** Records that a step has to wait, for other joins or because the ring is full. */
        void waits(Bottleneck bottleneck) {
            if (bottleneck != Bottleneck.READER) {
                long nowNs = nanoClock.getAsLong();
                if (!join.wantsToPost(nowNs)) {
                    catchUp(join, nowNs);
                }
                activeNs = nowNs;
                join.wantedNs = nowNs;
            }
        }

        /**
         * Counts a posted step.
         *
         * @param bottleneck of the engine with this step
         */
        void posted(long lengthBytes, Bottleneck bottleneck) {
            synchronized (BusShares.this) {
                count(this, lengthBytes, 1);
                if (joins.size() > 1) {
                    long nowNs = nanoClock.getAsLong();
                    catchUp(join, nowNs);
                    markActive(bottleneck, nowNs);
                    limitClaims(join);
                }
                join.clock += lengthBytes / join.weight;
            }
        }

        private void markActive(Bottleneck bottleneck, long nowNs) {
            if (bottleneck == Bottleneck.DEVICE) {
                join.wantedNs = nowNs;
            }
            if (bottleneck != Bottleneck.READER) {
                activeNs = nowNs;
                activate(this);
            }
        }

        /** Counts the end of a step. */
        void completed(long lengthBytes) {
            synchronized (BusShares.this) {
                count(this, -lengthBytes, -1);
            }
        }

        /** Removes the engine; the last one of a join ends its claim. */
        @Override
        public void close() {
            BusShares.this.close(this);
        }
    }

    /**
     * Adds an engine, which closes the share.
     *
     * @param share of the join, whose first engine sets the weight
     */
    synchronized Share open(JoinShare share) {
        Join join =
                joins.stream()
                        .filter(open -> share.join() != null && share.join().equals(open.name))
                        .findFirst()
                        .orElse(null);
        if (join == null) {
            // Its clock starts with its first step.
            join = new Join(share.join(), share.weight(), nanoClock.getAsLong());
            List<Join> all = new ArrayList<>(joins);
            all.add(join);
            joins = List.copyOf(all);
        }
        join.engineCount++;
        Share engine = new Share(join);
        engines.add(engine);
        recount(nanoClock.getAsLong());
        return engine;
    }

    private synchronized void close(Share engine) {
        engine.isActive = false;
        if (engines.remove(engine) && --engine.join.engineCount == 0) {
            joins = joins.stream().filter(open -> open != engine.join).toList();
        }
        recount(nanoClock.getAsLong());
    }

    private boolean hasInFlight(Load load) {
        return load.isReachedBy(inFlightBytes, inFlightSteps);
    }

    private void count(Share engine, long bytes, int steps) {
        engine.bytes += bytes;
        engine.steps += steps;
        if (engine.isActive) {
            inFlightBytes += bytes;
            inFlightSteps += steps;
        }
    }

    private void activate(Share engine) {
        if (!engine.isActive) {
            engine.isActive = true;
            inFlightBytes += engine.bytes;
            inFlightSteps += engine.steps;
        }
    }

    /**
     * Counts the steps of active engines again. Those of others are not worth a wait: nobody reads
     * their results.
     */
    private synchronized void recount(long nowNs) {
        long bytes = 0;
        int steps = 0;
        for (Share engine : engines) {
            engine.isActive = nowNs - engine.activeNs <= ACTIVE_NS;
            if (engine.isActive) {
                bytes += engine.bytes;
                steps += engine.steps;
            }
        }
        inFlightBytes = bytes;
        inFlightSteps = steps;
        recountedNs = nowNs;
    }

    /**
     * Moves the clock of a join that did not want to post to the least of those that do or, without
     * any, to the greatest of all.
     */
    private synchronized void catchUp(Join join, long nowNs) {
        if (join.wantsToPost(nowNs)) {
            return;
        }
        double least = Double.POSITIVE_INFINITY;
        double greatest = 0;
        for (Join other : joins) {
            if (other != join) {
                greatest = Math.max(greatest, other.clock);
                if (other.wantsToPost(nowNs)) {
                    least = Math.min(least, other.clock);
                }
            }
        }
        double start = least == Double.POSITIVE_INFINITY ? greatest : least;
        join.clock = Math.max(join.clock, start);
    }

    /**
     * Moves the clocks of all others to the lead behind a join that posts, if they are further
     * behind: they could not use what it uses. Counted from the start of its step, since a step
     * over a small weight may exceed the lead.
     */
    private void limitClaims(Join posting) {
        for (Join other : joins) {
            double least = posting.clock - posting.leadOver(other);
            if (other.clock < least) {
                other.clock = least;
            }
        }
    }
}
