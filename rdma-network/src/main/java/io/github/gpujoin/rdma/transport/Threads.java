// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.transport;

/** Waits for the threads of a transport. */
public final class Threads {

    private Threads() {}

    /** Waits for a thread that was asked to end. An interrupt is deferred to the caller. */
    public static void joinUninterruptibly(Thread thread) {
        boolean isInterrupted = false;
        while (true) {
            try {
                thread.join();
                break;
            } catch (InterruptedException e) {
                isInterrupted = true;
            }
        }
        if (isInterrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
