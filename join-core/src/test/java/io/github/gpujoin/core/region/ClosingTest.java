// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.region;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ClosingTest {

    @Test
    void shouldCloseAllAndThrowTheFirstException() {
        RuntimeException first = new IllegalStateException("first");
        RuntimeException second = new IllegalStateException("second");
        List<String> closed = new ArrayList<>();
        assertThatThrownBy(
                        () ->
                                Closing.<Runnable>all(
                                        List.of(
                                                () -> closed.add("a"),
                                                () -> {
                                                    throw first;
                                                },
                                                () -> closed.add("b"),
                                                () -> {
                                                    throw second;
                                                },
                                                () -> closed.add("c")),
                                        Runnable::run))
                .isSameAs(first)
                .hasSuppressedException(second);
        assertThat(closed).containsExactly("a", "b", "c");
    }
}
