// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.bulk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class BlocksTest {

    @Test
    void shouldVisitAllItemsInOrder() throws Exception {
        List<Long> bounds = new ArrayList<>();
        Blocks.forEach(
                10_000,
                (from, to) -> {
                    bounds.add(from);
                    bounds.add(to);
                });
        assertThat(bounds).containsExactly(0L, 4096L, 4096L, 8192L, 8192L, 10_000L);
    }

    @Test
    void shouldEndBeforeTheNextBlockIfInterrupted() {
        List<Long> visited = new ArrayList<>();
        assertThatExceptionOfType(InterruptedException.class)
                .isThrownBy(
                        () ->
                                Blocks.forEach(
                                        1_000_000,
                                        (from, to) -> {
                                            visited.add(to);
                                            if (visited.size() == 2) {
                                                Thread.currentThread().interrupt();
                                            }
                                        }));
        assertThat(visited).containsExactly(4096L, 8192L);
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }
}
