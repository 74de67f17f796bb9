// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.eventtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LongKeyMapTest {

    @ParameterizedTest(name = "seed={0}")
    @ValueSource(longs = {1, 2, 3})
    void shouldFindWhatWasPutAndNotRemoved(long seed) {
        Random random = new Random(seed);
        LongKeyMap<Integer> map = new LongKeyMap<>();
        Map<Long, Integer> expected = new HashMap<>();
        for (int i = 0; i < 20_000; i++) {
            long key = random.nextInt(300) - 150;
            if (random.nextInt(3) == 0) {
                map.remove(key);
                expected.remove(key);
            } else {
                map.put(key, i);
                expected.put(key, i);
            }
            long other = random.nextInt(300) - 150;
            assertThat(map.get(other)).isEqualTo(expected.get(other));
        }
        List<Integer> values = new ArrayList<>();
        map.forEachValue(values::add);
        assertThat(values).containsExactlyInAnyOrderElementsOf(expected.values());
    }

    @ParameterizedTest(name = "count={0}")
    @ValueSource(ints = {1, 1000})
    void shouldBeEmptyBehindTheLastRemoval(int count) {
        LongKeyMap<String> map = new LongKeyMap<>();
        for (long key = 0; key < count; key++) {
            map.put(key, "value");
        }
        for (long key = 0; key < count; key++) {
            map.remove(key);
        }
        map.forEachValue(value -> assertThat(value).isNull());
        map.put(5, "again");
        assertThat(map.get(5)).isEqualTo("again");
    }
}
