// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu;

import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import java.util.ArrayDeque;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Work done in steps of bounded length, see {@link JoinEngine#buildStep}. Not thread-safe. */
@FunctionalInterface
interface Work {

    /** Completes in the first step. */
    Work NONE = maxRows -> true;

    /**
     * Runs the next step, of about {@code maxRows} rows.
     *
     * @return whether the work is done
     */
    boolean step(long maxRows);

    /** Runs all remaining steps. */
    default void finish() {
        boolean done = false;
        while (!done) {
            done = step(JoinEngine.BUILD_STEP_ROWS);
        }
    }

    /** Visits the numbers from {@code from} to {@code to - 1}. */
    @FunctionalInterface
    interface Pass {
        void over(long from, long to);
    }

    /** Visits the numbers from 0 to {@code count - 1} in steps, in order. */
    static Work range(long count, Pass pass) {
        return new Work() {
            private long next;

            @Override
            public boolean step(long maxRows) {
                long to = count - next > maxRows ? next + maxRows : count;
                pass.over(next, to);
                next = to;
                return next == count;
            }
        };
    }

    /** Fills a region with zero bytes; a cache line counts as one row. */
    static Work zero(Region region) {
        int lineBytes = Region.ALIGNMENT_BYTES;
        long bytes = region.lengthBytes();
        return range(
                (bytes + lineBytes - 1) / lineBytes,
                (from, to) -> {
                    long start = from * lineBytes;
                    long length = Math.min(bytes, to * lineBytes) - start;
                    Memory.fill(null, region.address() + start, length, (byte) 0);
                });
    }

    /** Runs several works one after the other. */
    final class Sequence implements Work {

        private final ArrayDeque<Supplier<Work>> next = new ArrayDeque<>();
        private @Nullable Work current;

        /** Adds work that is created when all previous work is done. */
        Sequence then(Supplier<Work> work) {
            next.add(work);
            return this;
        }

        /** Adds a short call. */
        Sequence thenRun(Runnable call) {
            return then(
                    () -> {
                        call.run();
                        return NONE;
                    });
        }

        @Override
        public boolean step(long maxRows) {
            if (current == null && !next.isEmpty()) {
                current = next.remove().get();
            }
            if (current != null && current.step(maxRows)) {
                current = null;
            }
            return current == null && next.isEmpty();
        }
    }
}
