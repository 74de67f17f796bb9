// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.transport;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/** A stream of chunks until it is closed; the receiver copies each chunk to an array. */
public interface Stream extends AutoCloseable {

    Arrivals arrivals();

    /**
     * @throws Exception where the sender, the receiver or what is between them has failed
     */
    void check() throws Exception;

    /**
     * Processor time of sender and receiver so far: unlike a rate it says little of what else the
     * machine does. Waiting by spinning is part of it.
     */
    default long cpuNs() {
        return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime();
    }

    @Override
    void close() throws Exception;

    /** Opens streams of one kind. */
    interface Opener {
        Stream open(Shipment shipment) throws Exception;
    }
}
