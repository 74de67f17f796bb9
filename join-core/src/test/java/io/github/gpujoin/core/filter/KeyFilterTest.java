// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.filter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.Optional;
import java.util.Random;
import java.util.TreeSet;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KeyFilterTest {

    private static final int MAX_BYTES = 1 << 16;

    private static Optional<KeyFilter> filter(Iterable<Long> keys) {
        KeyFilterBuilder builder = new KeyFilterBuilder(MAX_BYTES);
        keys.forEach(builder::add);
        return builder.build();
    }

    private static TreeSet<Long> keys(int count, LongSupplier next) {
        TreeSet<Long> keys = new TreeSet<>();
        while (keys.size() < count) {
            keys.add(next.getAsLong());
        }
        return keys;
    }

    private static LongSupplier distribution(String name, Random random) {
        return switch (name) {
            case "DENSE" -> () -> 1_000_000_000_000L + random.nextInt(100_000);
            case "NEGATIVE" -> () -> random.nextInt(50_000) - 25_000;
            case "CLUSTERED" -> () -> (long) random.nextInt(100) << 40 | random.nextInt(30);
            case "EXTREME" -> () -> random.nextBoolean() ? Long.MAX_VALUE : Long.MIN_VALUE;
            default -> random::nextLong;
        };
    }

    @ParameterizedTest
    @CsvSource({
        "DENSE, 1, 1", "DENSE, 30000, 2", "NEGATIVE, 20000, 3", "CLUSTERED, 2000, 4",
        "EXTREME, 2, 5", "SPARSE, 1, 6", "SPARSE, 100, 7", "SPARSE, 30000, 8"
    })
    void shouldAcceptAllKeysAndFewOthers(String distribution, int count, long seed) {
        Random random = new Random(seed);
        TreeSet<Long> keys = keys(count, distribution(distribution, random));
        KeyFilter filter = filter(keys).orElseThrow();
        assertThat(keys).allMatch(filter::mayAccept);
        assertThat(filter.min()).isEqualTo(keys.first());
        assertThat(filter.max()).isEqualTo(keys.last());
        assertThat(filter.lengthBytes()).isLessThanOrEqualTo(MAX_BYTES);
        int others = 20_000;
        long accepted = random.longs(others).filter(filter::mayAccept).count();
        assertThat(accepted).isLessThan(others / 20);
    }

    @ParameterizedTest
    @CsvSource({"DENSE, 30000, 11", "NEGATIVE, 500, 12", "SPARSE, 3000, 13"})
    void shouldSelectTheRowsThatItAccepts(String distribution, int count, long seed) {
        Random random = new Random(seed);
        LongSupplier next = distribution(distribution, random);
        TreeSet<Long> keys = keys(count, next);
        Long[] known = keys.toArray(Long[]::new);
        KeyFilter filter = filter(keys).orElseThrow();
        long[] values = new long[5_000];
        Arrays.setAll(values, i -> i % 3 == 0 ? known[random.nextInt(count)] : next.getAsLong());
        int[] rows = IntStream.range(0, values.length).filter(i -> i % 2 == 0).toArray();
        int[] expected = Arrays.stream(rows).filter(row -> filter.mayAccept(values[row])).toArray();
        int kept = filter.select(values, rows, 0, rows.length, 0);
        assertThat(Arrays.copyOf(rows, kept)).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({"DENSE, 300, 21", "NEGATIVE, 20, 22", "SPARSE, 300, 23"})
    void shouldAcceptRangesWithKeys(String distribution, int count, long seed) {
        Random random = new Random(seed);
        LongSupplier next = distribution(distribution, random);
        TreeSet<Long> keys = keys(count, next);
        KeyFilter filter = filter(keys).orElseThrow();
        for (int i = 0; i < 2_000; i++) {
            long from = next.getAsLong();
            long to = random.nextInt(4) == 0 ? from : next.getAsLong();
            if (from <= to && keys.ceiling(from) != null && keys.ceiling(from) <= to) {
                assertThat(filter.mayAcceptAny(from, to)).as("%s to %s", from, to).isTrue();
            }
        }
        assertThat(filter.mayAcceptAny(keys.last() + 1, keys.last() + 9)).isFalse();
        assertThat(filter.mayAcceptAny(keys.first() - 9, keys.first() - 1)).isFalse();
    }

    @Test
    void shouldBeExactForDenseKeys() {
        KeyFilter filter = filter(java.util.List.of(5L, 70L, 200L)).orElseThrow();
        assertThat(IntStream.range(-300, 600).filter(filter::mayAccept))
                .containsExactly(5, 70, 200);
        assertThat(filter.mayAcceptAny(6, 69)).isFalse();
        assertThat(filter.mayAcceptAny(71, 199)).isFalse();
        assertThat(filter.mayAcceptAny(64, 127)).isTrue();
    }

    @Test
    void shouldAcceptNothingWithoutKeys() {
        KeyFilter filter = new KeyFilterBuilder(MAX_BYTES).build().orElseThrow();
        assertThat(filter.mayAccept(0)).isFalse();
        assertThat(filter.mayAcceptAny(Long.MIN_VALUE, Long.MAX_VALUE)).isFalse();
        assertThat(filter.select(new long[] {0, 1}, new int[] {0, 1}, 0, 2, 0)).isZero();
    }

    @Test
    void shouldHaveNoFilterOfTooManyKeys() {
        Random random = new Random(31);
        KeyFilterBuilder builder = new KeyFilterBuilder(1 << 12);
        random.longs(20_000).forEach(builder::add);
        assertThat(builder.build()).isEmpty();
    }

    @Test
    void shouldRejectATinyLimit() {
        assertThatThrownBy(() -> new KeyFilterBuilder(100))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("maxBytes=100");
    }
}
