// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import io.github.gpujoin.rdma.session.SessionException;
import org.apache.flink.util.function.SupplierWithException;
import org.apache.flink.util.function.ThrowingRunnable;

/** Faults of the memory of a ring whose payloads are read in place, outside its session. */
public final class SlotFaults {

    private SlotFaults() {}

    /**
     * Runs code that may read payloads in place.
     *
     * @throws SessionException instead of an {@link InternalError}, after which Flink would end the
     *     process. The JVM throws that error if another process truncated the ring's file
     */
    public static <T> T orFail(SupplierWithException<T, Exception> reads) throws Exception {
        try {
            return reads.get();
        } catch (InternalError e) {
            throw RingEnd.sessionFailure(e);
        }
    }

    /** Like {@link #orFail(SupplierWithException)}. */
    public static void orFail(ThrowingRunnable<Exception> reads) throws Exception {
        orFail(
                () -> {
                    reads.run();
                    return null;
                });
    }
}
