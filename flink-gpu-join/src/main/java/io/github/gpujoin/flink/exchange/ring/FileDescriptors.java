package io.github.gpujoin.flink.exchange.ring;

import com.sun.management.UnixOperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/**
 * Tells whether this process lacks file descriptors. Without one, sockets, files and classes fail
 * in ways that do not name the want: cryptography, for one, cannot be initialised.
 */
final class FileDescriptors {

    /** Fewer are too few for what a ring may need at the same time. */
    private static final long FEW = 16;

    private FileDescriptors() {}

    /** A sentence for the end of an error message; empty where there are enough. */
    static String want() {
        if (!(ManagementFactory.getOperatingSystemMXBean()
                instanceof UnixOperatingSystemMXBean process)) {
            return "";
        }
        return want(openOf(process), process.getMaxFileDescriptorCount());
    }

    static String want(long open, long limit) {
        return limit - open >= FEW
                ? ""
                : ".\nToo many open files in this process: open=%d, limit=%d. Raise ulimit -n"
                        .formatted(open, limit);
    }

    /** To count them takes one: who cannot has used all. */
    private static long openOf(UnixOperatingSystemMXBean process) {
        try {
            long open = process.getOpenFileDescriptorCount();
            return open < 0 ? process.getMaxFileDescriptorCount() : open;
        } catch (InternalError e) {
            return process.getMaxFileDescriptorCount();
        }
    }
}
