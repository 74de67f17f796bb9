// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.symmetric;

import io.github.gpujoin.core.engine.EngineUnavailableException;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.core.symmetric.MatchIndex;
import io.github.gpujoin.core.symmetric.MatchIndexFactory;
import io.github.gpujoin.core.symmetric.testing.HeapMatchIndex;
import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.List;
import java.util.Random;

/**
 * Indexes on a device that is lost after a random number of calls, once in each life of the job.
 */
record LostDevice() implements MatchIndexFactory {

    private static final int MAX_CALLS = 400;

    private static Random random = new Random(0);
    private static int callsLeft;
    private static int losses;

    static void reset(long seed) {
        random = new Random(seed);
        losses = 0;
        restart();
    }

    /** Begins another life of the job. */
    static void restart() {
        callsLeft = random.nextInt(MAX_CALLS);
    }

    /** Returns the number of joins that lost their device since the last reset. */
    static int losses() {
        return losses;
    }

    private static void call() {
        callsLeft--;
        if (callsLeft < 0) {
            losses++;
            throw new GpuUnavailableException(GpuFailure.DEVICE_LOST, "Test loses the device.");
        }
    }

    @Override
    public String deviceName() {
        return "gpu";
    }

    @Override
    public MatchIndex create(List<Boolean> removesRows, MemoryReservations hostMemory) {
        call();
        return new Index(new HeapMatchIndex(removesRows));
    }

    @Override
    public EngineUnavailableException multiJoinUnsupported(int inputs) {
        return new GpuUnavailableException(GpuFailure.UNSUPPORTED_JOIN, "inputs=" + inputs);
    }

    private record Index(MatchIndex index) implements MatchIndex {

        @Override
        public void reserve(int input, int lastId) {
            call();
            index.reserve(input, lastId);
        }

        @Override
        public void add(int input, long[] keys, int[] ids, int count) {
            call();
            index.add(input, keys, ids, count);
        }

        @Override
        public void remove(int input, long[] keys, int[] ids, int count) {
            call();
            index.remove(input, keys, ids, count);
        }

        @Override
        public void probe(int input, long[] keys, int[] ids, int count, boolean adds) {
            call();
            index.probe(input, keys, ids, count, adds);
        }

        @Override
        public int matches(int row) {
            call();
            return index.matches(row);
        }

        @Override
        public int match(int number) {
            return index.match(number);
        }

        @Override
        public long memoryBytes() {
            return index.memoryBytes();
        }

        @Override
        public void close() {
            index.close();
        }
    }
}
