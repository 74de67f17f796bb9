// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.session.testing;

import io.github.gpujoin.rdma.testing.SimulatedFaults;
import io.github.gpujoin.rdma.testing.SimulatedTransport;
import io.github.gpujoin.rdma.transport.Transport;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** A transport of payloads with its kind of faults. */
public interface FaultyNetwork extends AutoCloseable {

    /** Shared memory: only control connections have faults. */
    static FaultyNetwork whole(Transport transport) {
        return new FaultyNetwork() {
            @Override
            public Transport transport() {
                return transport;
            }

            @Override
            public void deliver() {}

            @Override
            public void heal() {}

            @Override
            public int payloads() {
                return 100;
            }
        };
    }

    static FaultyNetwork simulated(Random random, long seed, LongSupplier clockNs) {
        SimulatedTransport transport = new SimulatedTransport(faults(random), seed, clockNs);
        return new FaultyNetwork() {
            @Override
            public Transport transport() {
                return transport;
            }

            @Override
            public void deliver() {
                transport.deliver();
            }

            @Override
            public void heal() {
                transport.setFaults(SimulatedFaults.NONE);
            }

            @Override
            public int payloads() {
                return 30;
            }
        };
    }

    Transport transport();

    void deliver();

    void heal();

    /** Number of payloads that keeps a schedule busy as long as there are faults. */
    int payloads();

    @Override
    default void close() {
        transport().close();
    }

    /** Creates the network of a schedule. */
    interface Opener {
        FaultyNetwork open(Random random, long seed, LongSupplier clockNs) throws Exception;
    }

    private static SimulatedFaults faults(Random random) {
        return new SimulatedFaults(
                random.nextInt(40),
                random.nextInt(40),
                random.nextInt(40),
                random.nextInt(40),
                random.nextInt(100),
                random.nextInt(20),
                1 + random.nextLong(TimeUnit.MILLISECONDS.toNanos(50)));
    }
}
