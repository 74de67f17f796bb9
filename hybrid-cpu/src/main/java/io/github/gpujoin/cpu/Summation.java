// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu;

import io.github.gpujoin.core.engine.Aggregate;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.PagedMemory;

/** Adds one aggregate of the rows of a batch to sums in native memory. Not thread-safe. */
final class Summation {

    private final BatchColumn[] factors;

    Summation(JoinSpec spec, Aggregate aggregate, int batchRows, PagedMemory memory) {
        this.factors =
                aggregate.factors().stream()
                        .map(column -> new BatchColumn(spec, column, batchRows, memory))
                        .toArray(BatchColumn[]::new);
    }

    /**
     * Adds each row to the sum at {@code group + offset}.
     *
     * @param groups address of the array of group addresses, one for each row
     */
    void add(ResultBatch batch, long groups, long offset) {
        int count = batch.rowCount();
        switch (factors.length) {
            case 0 -> addOnes(groups, offset, count);
            case 1 -> addValues(factors[0].load(batch), groups, offset, count);
            default ->
                    addProducts(
                            factors[0].load(batch), factors[1].load(batch), groups, offset, count);
        }
    }

    private static void addOnes(long groups, long offset, int count) {
        for (int i = 0; i < count; i++) {
            long sum = Memory.getLong(groups + 8L * i) + offset;
            Memory.putLong(sum, Memory.getLong(sum) + 1);
        }
    }

    private static void addValues(long values, long groups, long offset, int count) {
        for (int i = 0; i < count; i++) {
            long sum = Memory.getLong(groups + 8L * i) + offset;
            Memory.putLong(sum, Memory.getLong(sum) + Memory.getLong(values + 8L * i));
        }
    }

    private static void addProducts(long left, long right, long groups, long offset, int count) {
        for (int i = 0; i < count; i++) {
            long sum = Memory.getLong(groups + 8L * i) + offset;
            long product = Memory.getLong(left + 8L * i) * Memory.getLong(right + 8L * i);
            Memory.putLong(sum, Memory.getLong(sum) + product);
        }
    }

    /**
     * Adds all rows to one sum.
     *
     * @param sum address of the sum
     */
    void addAll(ResultBatch batch, long sum) {
        long total = Memory.getLong(sum);
        int count = batch.rowCount();
        switch (factors.length) {
            case 0 -> total += count;
            case 1 -> total += sum(factors[0].load(batch), count);
            default -> total += sum(factors[0].load(batch), factors[1].load(batch), count);
        }
        Memory.putLong(sum, total);
    }

    private static long sum(long values, int count) {
        long total = 0;
        for (int i = 0; i < count; i++) {
            total += Memory.getLong(values + 8L * i);
        }
        return total;
    }

    private static long sum(long left, long right, int count) {
        long total = 0;
        for (int i = 0; i < count; i++) {
            total += Memory.getLong(left + 8L * i) * Memory.getLong(right + 8L * i);
        }
        return total;
    }
}
