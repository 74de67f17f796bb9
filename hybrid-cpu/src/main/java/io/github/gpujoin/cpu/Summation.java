// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu;

import io.github.gpujoin.core.engine.Aggregate;
import io.github.gpujoin.core.engine.JoinColumn;
import io.github.gpujoin.core.region.Memory;
import java.util.List;
import java.util.function.Function;

/**
 * Adds one aggregate of the rows of a batch to sums in native memory. Not thread-safe.
 *
 * @param <B> type of the batches
 */
final class Summation<B> {

    private final List<LongColumn<B>> factors;

    Summation(Aggregate aggregate, Function<JoinColumn, LongColumn<B>> columns) {
        this.factors = aggregate.factors().stream().map(columns).toList();
    }

    /**
     * Adds each row to the sum at {@code group + offset}.
     *
     * @param groups address of the array of group addresses, one for each row
     */
    void add(B batch, int count, long groups, long offset) {
        switch (factors.size()) {
            case 0 -> addOnes(groups, offset, count);
            case 1 -> addValues(factors.get(0).load(batch), groups, offset, count);
            default ->
                    addProducts(
                            factors.get(0).load(batch),
                            factors.get(1).load(batch),
                            groups,
                            offset,
                            count);
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
    void addAll(B batch, int count, long sum) {
        long total = Memory.getLong(sum);
        switch (factors.size()) {
            case 0 -> total += count;
            case 1 -> total += sum(factors.get(0).load(batch), count);
            default -> total += sum(factors.get(0).load(batch), factors.get(1).load(batch), count);
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
