// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import com.sun.management.UnixOperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/**
 * Detects whether this process lacks file descriptors. Then sockets, files and classes fail with
 * messages that do not mention descriptors, such as a failed initialization of cryptography.
 */
final class FileDescriptors {

    /** Descriptors that opening a ring may need at the same time. */
    private static final long MIN_FREE_COUNT = 16;

    private FileDescriptors() {}

    /**
     * Returns a suffix for an error message, or an empty string if there are enough descriptors.
     */
    static String shortage() {
        if (!(ManagementFactory.getOperatingSystemMXBean()
                instanceof UnixOperatingSystemMXBean process)) {
            return "";
        }
        return shortage(openCount(process), process.getMaxFileDescriptorCount());
    }

    static String shortage(long open, long limit) {
        return limit - open >= MIN_FREE_COUNT
                ? ""
                : ".\nToo many open files in this process: open=%d, limit=%d. Raise ulimit -n"
                        .formatted(open, limit);
    }

    /** Counting needs a descriptor, so a failed count means that all are open. */
    private static long openCount(UnixOperatingSystemMXBean process) {
        try {
            long open = process.getOpenFileDescriptorCount();
            return open < 0 ? process.getMaxFileDescriptorCount() : open;
        } catch (InternalError e) {
            return process.getMaxFileDescriptorCount();
        }
    }
}
