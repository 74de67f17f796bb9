// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.filter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Unions of the keys of several builders, against a set of the keys. */
class KeyFilterMergeTest {

    private static final int MAX_BYTES = 1 << 14;

    private static long[] seeds() {
        return new Random(41).longs(60).toArray();
    }

    /** Keys of one part: dense, clustered or sparse, so that parts have different forms. */
    private static long key(Random random, int form, int base) {
        return switch (form) {
            case 0 -> base + random.nextInt(2_000);
            case 1 -> (long) random.nextInt(20) << 30 | random.nextInt(40);
            default -> random.nextLong();
        };
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void shouldAcceptEachKeyOfEachPart(long seed) {
        Random random = new Random(seed);
        int base = random.nextInt();
        Set<Long> all = new HashSet<>();
        KeyFilterBuilder union = new KeyFilterBuilder(MAX_BYTES);
        int parts = 1 + random.nextInt(4);
        for (int part = 0; part < parts; part++) {
            KeyFilterBuilder builder = new KeyFilterBuilder(MAX_BYTES);
            int form = random.nextInt(3);
            for (int left = random.nextInt(1_500); left > 0; left--) {
                long key = key(random, form, base);
                all.add(key);
                builder.add(key);
            }
            builder.pieces(512 << random.nextInt(6)).forEach(union::add);
        }

        KeyFilter filter = union.build().orElseThrow();

        assertThat(all).as("seed %d", seed).allMatch(filter::mayAccept);
        assertThat(filter.lengthBytes()).isLessThanOrEqualTo(MAX_BYTES);
        if (!all.isEmpty()) {
            TreeSet<Long> sorted = new TreeSet<>(all);
            assertThat(filter.min()).isEqualTo(sorted.first());
            assertThat(filter.max()).isEqualTo(sorted.last());
        }
        long accepted =
                random.longs(5_000)
                        .filter(key -> !all.contains(key))
                        .filter(filter::mayAccept)
                        .count();
        assertThat(accepted).as("seed %d", seed).isLessThan(500);
    }

    @Test
    void shouldBeExactForPartsOfADenseRange() {
        KeyFilterBuilder union = new KeyFilterBuilder(MAX_BYTES);
        for (int part = 0; part < 3; part++) {
            KeyFilterBuilder builder = new KeyFilterBuilder(MAX_BYTES);
            for (int key = part; key < 30_000; key += 6) {
                builder.add(key);
            }
            union.addAll(builder);
        }

        KeyFilter filter = union.build().orElseThrow();

        assertThat(IntStream.range(-100, 30_100).filter(filter::mayAccept).boxed())
                .isEqualTo(IntStream.range(0, 30_000).filter(key -> key % 6 < 3).boxed().toList());
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 3_000, 100_000})
    void shouldLeaveTheOtherBuilderAsItIs(int count) {
        KeyFilterBuilder part = new KeyFilterBuilder(MAX_BYTES);
        new Random(5).longs(count).forEach(part::add);
        KeyFilterBuilder union = new KeyFilterBuilder(MAX_BYTES);
        union.addAll(part);
        union.add(7);

        assertThat(part.build().map(filter -> filter.mayAccept(7)).orElse(false)).isFalse();
        assertThat(union.build().isPresent()).isEqualTo(count < 100_000);
    }

    @Test
    void shouldCountTheKeysOfAllPieces() {
        KeyFilterBuilder union = new KeyFilterBuilder(MAX_BYTES);
        for (int part = 0; part < 4; part++) {
            KeyFilterBuilder builder = new KeyFilterBuilder(MAX_BYTES);
            new Random(part).longs(20_000).forEach(builder::add);
            assertThat(builder.lengthBytes()).isEqualTo(MAX_BYTES);
            assertThat(builder.pieces(1 << 10)).hasSize(16);
            builder.pieces(1 << 10).forEach(union::add);
        }

        assertThat(union.build()).as("too many keys in all").isEmpty();
    }

    @Test
    void shouldRejectKeysOfAnotherLimit() {
        KeyFilterBuilder other = new KeyFilterBuilder(2 * MAX_BYTES);
        new Random(1).longs(20_000).forEach(other::add);
        List<KeyPiece> pieces = other.pieces(1 << 10).toList();
        KeyFilterBuilder builder = new KeyFilterBuilder(MAX_BYTES);

        assertThatThrownBy(() -> builder.add(pieces.get(0)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("words=4096 and 2048");
    }
}
