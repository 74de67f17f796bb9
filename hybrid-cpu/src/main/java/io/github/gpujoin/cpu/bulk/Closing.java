// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.bulk;

import java.util.stream.Stream;

/** Closes several owners of memory or files. */
final class Closing {

    private Closing() {}

    /** Runs all, and then throws the first exception, with the others suppressed. */
    static void all(Stream<Runnable> closes) {
        RuntimeException failure = null;
        for (Runnable close : closes.toList()) {
            try {
                close.run();
            } catch (RuntimeException e) {
                if (failure == null) {
                    failure = e;
                } else {
                    failure.addSuppressed(e);
                }
            }
        }
        if (failure != null) {
            throw failure;
        }
    }
}
