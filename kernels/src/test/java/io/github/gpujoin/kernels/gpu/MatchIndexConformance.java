// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.core.symmetric.MatchIndex;
import io.github.gpujoin.core.symmetric.testing.HeapMatchIndex;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Compares an index of a device with the definition, on random changes of both inputs. */
@ExtendWith(RegionLeakExtension.class)
abstract class MatchIndexConformance {

    private static final int ROUNDS = 60;

    /** Creates the index under test. The test closes it. */
    abstract MatchIndex create(List<Boolean> removesRows, MemoryReservations hostMemory);

    /** The rows of one input, by id. */
    private static final class Input {

        private final List<Long> keys = new ArrayList<>();
        private final List<Integer> live = new ArrayList<>();
        private final List<Integer> free = new ArrayList<>();

        private int next(long key, Random random) {
            int id;
            if (!free.isEmpty() && random.nextBoolean()) {
                id = free.remove(free.size() - 1);
                keys.set(id, key);
            } else {
                id = keys.size();
                keys.add(key);
            }
            live.add(id);
            return id;
        }

        private int remove(Random random) {
            int at = random.nextInt(live.size());
            int id = live.get(at);
            live.set(at, live.get(live.size() - 1));
            live.remove(live.size() - 1);
            return id;
        }
    }

    private static long key(int keys, Random random) {
        if (random.nextInt(4) == 0) {
            // a heavy hitter, the key of free slots
            return 0;
        }
        return random.nextInt(keys) * (random.nextBoolean() ? 1L : 0x1_0000_0001L);
    }

    @ParameterizedTest
    @CsvSource({
        "false, false, 50, 100", "false, true, 3000, 400",
        "true, false, 3000, 400", "true, true, 50, 400",
    })
    void shouldFindTheRowsOfEachKey(boolean left, boolean right, int keys, int maxRows) {
        List<Boolean> removesRows = List.of(left, right);
        Random random = new Random(keys + maxRows);
        List<Input> inputs = List.of(new Input(), new Input());
        try (MatchIndex index = create(removesRows, MemoryReservations.unlimited());
                MatchIndex expected = new HeapMatchIndex(removesRows)) {
            for (int round = 0; round < ROUNDS; round++) {
                int number = random.nextInt(2);
                Input input = inputs.get(number);
                probe(index, expected, number, keys, random.nextInt(maxRows), random);
                if (removesRows.get(number) && !input.live.isEmpty()) {
                    removeSome(index, expected, number, input, maxRows, random);
                }
                addSome(index, expected, number, input, keys, random.nextInt(maxRows), random);
            }
            assertThat(index.memoryBytes()).isPositive();
        }
    }

    private static void removeSome(
            MatchIndex index,
            MatchIndex expected,
            int number,
            Input input,
            int maxRows,
            Random random) {
        // now and then most rows leave, so that heavy hitters become light again
        int most = random.nextInt(8) == 0 ? input.live.size() : maxRows;
        int count = random.nextInt(Math.min(most, input.live.size()) + 1);
        long[] keys = new long[count];
        int[] links = new int[count];
        for (int i = 0; i < count; i++) {
            int id = input.remove(random);
            keys[i] = input.keys.get(id);
            links[i] = id + 1;
        }
        index.remove(number, keys, links, count);
        expected.remove(number, keys, links, count);
        for (int link : links) {
            input.free.add(link - 1);
        }
    }

    private static void addSome(
            MatchIndex index,
            MatchIndex expected,
            int number,
            Input input,
            int keyCount,
            int count,
            Random random) {
        long[] keys = new long[count];
        int[] links = new int[count];
        for (int i = 0; i < count; i++) {
            keys[i] = key(keyCount, random);
            links[i] = random.nextInt(10) == 0 ? 0 : input.next(keys[i], random) + 1;
        }
        index.reserve(number, input.keys.size() - 1);
        expected.reserve(number, input.keys.size() - 1);
        index.add(number, keys, links, count);
        expected.add(number, keys, links, count);
    }

    private static void probe(
            MatchIndex index,
            MatchIndex expected,
            int number,
            int keyCount,
            int count,
            Random random) {
        long[] keys = new long[count];
        int[] links = new int[count];
        for (int i = 0; i < count; i++) {
            keys[i] = key(keyCount, random);
            links[i] = random.nextInt(10) == 0 ? 0 : i + 1;
        }
        index.probe(number, keys, links, count, false);
        expected.probe(number, keys, links, count, false);
        for (int row = 0; row < count; row++) {
            if (links[row] != 0 && random.nextInt(10) > 0) {
                assertThat(matches(index, row))
                        .as("input=%d, key=%d", number, keys[row])
                        .containsExactlyInAnyOrderElementsOf(matches(expected, row));
            }
        }
    }

    private static List<Integer> matches(MatchIndex index, int row) {
        List<Integer> matches = new ArrayList<>();
        int count = index.matches(row);
        for (int i = 0; i < count; i++) {
            matches.add(index.match(i));
        }
        return matches;
    }
}
