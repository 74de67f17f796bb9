// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.etl.demo;

import java.io.PrintWriter;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Everything that must end with the command, also at Ctrl-C: closes it in reverse order, once.
 * Thread-safe.
 */
final class DemoProcesses implements AutoCloseable {

    private final Deque<AutoCloseable> open = new ArrayDeque<>();
    private final PrintWriter out;
    private final Thread hook = new Thread(this::close, "stop");
    private boolean isClosed;

    DemoProcesses(PrintWriter out) {
        this.out = out;
        Runtime.getRuntime().addShutdownHook(hook);
    }

    /** Adds something to close; closes it at once if the command is ending. */
    synchronized <T extends AutoCloseable> T add(T resource) {
        open.push(resource);
        if (isClosed) {
            close();
            throw new IllegalStateException("The command was interrupted.");
        }
        return resource;
    }

    /** Returns whether processes are being stopped, so that failures are their consequence. */
    synchronized boolean isClosed() {
        return isClosed;
    }

    @Override
    public synchronized void close() {
        isClosed = true;
        while (!open.isEmpty()) {
            AutoCloseable next = open.pop();
            try {
                next.close();
            } catch (Exception e) {
                out.printf("Not stopped: %s%n", e.getMessage());
                out.flush();
            }
        }
        if (Thread.currentThread() != hook) {
            try {
                Runtime.getRuntime().removeShutdownHook(hook);
            } catch (IllegalStateException e) {
                // The JVM ends already.
            }
        }
    }
}
