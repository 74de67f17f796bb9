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
 *   <li>if {@link #MAX_IN_FLIGHT_BYTES} are in flight: they bound the time that a step spends
 *       behind those of others; or
 *   <li>if the clock of its join is ahead of the other one's by more than {@link #MAX_LEAD_BYTES}
 *       over the larger of the two weights, and {@link #SATURATING_BYTES} are in flight.
 * </ul>
 *
 * <p>A join wants to post if it has just waited, or had all slots of an engine in flight after its
 * last step, and its results are read as they are ready. While two joins want to post and the bus
 * is busy, their bytes over their weights differ by at most the lead and one step for each thread
 * of the faster join. A join is not limited while no other one wants to post. The clock of a join
 * that returns starts with those that want to post, so that it has no claim on the past.
 *
 * <p>{@link Share#mayPost} takes no lock, except once in {@link #RECOUNT_NS} and when a join
 * returns and has to wait. It may see clocks and counts that are some steps old, which delays or
 * admits as many. All other methods lock this object; those of a step are called under the lock of
 * the ring and do not contend. Thread-safe.
 */
final class BusShares {

    /**
     * Bytes in flight that keep the bus of a device busy: an H200 reads 95 % of its bus with one
     * million plain keys of 8 bytes in flight.
     */
    static final long SATURATING_BYTES = 8L << 20;

    /** Twice as much; a bus of 50 GB/s reads it in a third of a millisecond. */
    static final long MAX_IN_FLIGHT_BYTES = 16L << 20;

    /**
     * Steps without which a device has room, whatever their bytes: twice the reads that the gate of
     * a kernel admits.
     */
    static final int SATURATING_STEPS = 48;

    /**
     * More than a bus of 60 GB/s reads in {@link #ACTIVE_NS}, so that a join that no longer posts
     * does not delay another one.
     */
    static final long MAX_LEAD_BYTES = 64L << 20;

    /**
     * Time for which a join wants to post, and steps of an engine count as in flight, without a new
     * sign of it.
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

        /** Bytes posted over the weight, without those missed while idle. */
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
            return (clock - other.clock) * Math.max(weight, other.weight) > MAX_LEAD_BYTES;
        }
    }

    private final LongSupplier nanoClock;
    private volatile List<Join> joins = List.of();
    private final List<Share> engines = new ArrayList<>();

    /** Bytes and steps in flight of active engines. */
    private volatile long inFlightBytes;

    private volatile int inFlightSteps;
    private volatile long recountedNs;

    /**
     * @param nanoClock time in nanoseconds, with any origin
     */
    BusShares(LongSupplier nanoClock) {
        this.nanoClock = nanoClock;
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
            if (all.size() <= 1 || !hasInFlight(SATURATING_BYTES)) {
                return true;
            }
            long nowNs = nanoClock.getAsLong();
            if (nowNs - recountedNs > RECOUNT_NS) {
                recount(nowNs);
            }
            boolean isFull = hasInFlight(MAX_IN_FLIGHT_BYTES);
            boolean isSaturated = hasInFlight(SATURATING_BYTES);
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
                    advance(bottleneck, nanoClock.getAsLong());
                }
                join.clock += lengthBytes / join.weight;
            }
        }

        private void advance(Bottleneck bottleneck, long nowNs) {
            catchUp(join, nowNs);
            if (bottleneck == Bottleneck.DEVICE) {
                join.wantedNs = nowNs;
            }
            if (bottleneck != Bottleneck.READER) {
                activeNs = nowNs;
                activate(this);
            }
        }

        /** Counts the end of a step. */
        void released(long lengthBytes) {
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

    private boolean hasInFlight(long lengthBytes) {
        return inFlightBytes >= lengthBytes && inFlightSteps >= SATURATING_STEPS;
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
     * Counts the steps of active engines again. The others may have steps that ended long ago,
     * whose results nobody reads.
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

    /** Sets the clock of a join that did not want to post, so that it has no claim on the past. */
    private synchronized void catchUp(Join join, long nowNs) {
        if (!join.wantsToPost(nowNs)) {
            join.clock = Math.max(join.clock, clockOfOthers(join, nowNs));
        }
    }

    /**
     * Returns the clock with which a join starts that did not want to post: the least of those that
     * do or, without any, the greatest of all.
     */
    private double clockOfOthers(Join starting, long nowNs) {
        double least = Double.POSITIVE_INFINITY;
        double greatest = 0;
        for (Join other : joins) {
            if (other != starting) {
                greatest = Math.max(greatest, other.clock);
                if (other.wantsToPost(nowNs)) {
                    least = Math.min(least, other.clock);
                }
            }
        }
        return least == Double.POSITIVE_INFINITY ? greatest : least;
    }
}
