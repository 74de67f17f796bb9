package io.github.gpujoin.benchmarks.transport;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/** Chunks under way until it is closed; every one is copied out into an array where it arrives. */
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
