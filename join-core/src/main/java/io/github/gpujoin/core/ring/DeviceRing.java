// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.ring;

/**
 * A ring in device memory, which the host reads by copies. Only one thread at a time may use it.
 */
public interface DeviceRing extends RingView, AutoCloseable {

    /** Returns the device pointer of the first byte. The CPU must not dereference it. */
    long address();

    long lengthBytes();

    /** Frees the memory. No writer may use it any more. A second call has no effect. */
    @Override
    void close();
}
