// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.bulk;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;

/** The threads of bulk joins on the CPU. */
public final class JoinThreads {

    private static final long TIMEOUT_MS = 10_000;

    private JoinThreads() {}

    /**
     * Checks that all threads have ended. A closed join has stopped them, just before their end.
     */
    public static void assertEnded() throws InterruptedException {
        List<Thread> threads =
                Thread.getAllStackTraces().keySet().stream()
                        .filter(thread -> thread.getName().startsWith("cpu-radix-join"))
                        .toList();
        for (Thread thread : threads) {
            thread.join(TIMEOUT_MS);
            assertThat(thread.isAlive()).as(thread.getName()).isFalse();
        }
    }
}
