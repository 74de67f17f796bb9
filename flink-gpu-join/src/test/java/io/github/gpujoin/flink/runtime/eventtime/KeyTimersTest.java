// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.eventtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.flink.state.FullKey;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KeyTimersTest {

    @ParameterizedTest(name = "areHashed={0}")
    @ValueSource(booleans = {false, true})
    void shouldReadTheTimerOfEachKey(boolean areHashed) {
        Random random = new Random(1);
        Map<FullKey, Long> expected = new LinkedHashMap<>();
        for (int i = 0; i < 100; i++) {
            byte[] bytes = new byte[1 + i % 20];
            random.nextBytes(bytes);
            FullKey key = areHashed ? FullKey.hashed(i % 7, bytes) : FullKey.exact(i - 50);
            expected.put(key, random.nextLong());
        }
        KeyTimers timers = new KeyTimers(areHashed);
        expected.forEach(timers::add);

        Map<FullKey, Long> read = new LinkedHashMap<>();
        KeyTimers.read(timers.toArray(), areHashed, read::put);
        assertThat(read).isEqualTo(expected);
    }

    /** Snapshots contain exact keys in this form. */
    @Test
    void shouldWriteAnExactKeyAsAPair() {
        KeyTimers timers = new KeyTimers(false);
        timers.add(FullKey.exact(-3), 40);
        timers.add(FullKey.exact(5), Long.MAX_VALUE);
        assertThat(timers.toArray()).containsExactly(-3, 40, 5, Long.MAX_VALUE);
    }
}
