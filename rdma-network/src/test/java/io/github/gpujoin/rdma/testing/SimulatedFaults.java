// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.testing;

/**
 * Rates at which a {@link SimulatedTransport} breaks the guarantees of a transport, in writes of a
 * thousand.
 *
 * @param drop writes that are lost
 * @param duplicate writes that arrive a second time, later
 * @param reorder writes that arrive after later ones, even across a flush
 * @param tear writes of which a part arrives first, and the rest later or never
 * @param delay writes that arrive late and delay all later ones
 * @param cut writes that break their connection and lose some of its in-flight writes
 * @param maxDelayNs longest delay of a late write, at least 1
 */
public record SimulatedFaults(
        int drop, int duplicate, int reorder, int tear, int delay, int cut, long maxDelayNs) {

    public static final SimulatedFaults NONE = new SimulatedFaults(0, 0, 0, 0, 0, 0, 1);

    public SimulatedFaults {
        int sum = drop + duplicate + reorder + tear + delay + cut;
        boolean negative = (drop | duplicate | reorder | tear | delay | cut) < 0;
        if (negative || sum > 1000 || maxDelayNs < 1) {
            throw new IllegalArgumentException(
                    "Invalid fault rates: sum="
                            + sum
                            + ", maxDelayNs="
                            + maxDelayNs
                            + ". Use rates of 0 to 1000 in total and a delay of at least 1 ns.");
        }
    }

    /** The fault of one write. */
    enum Fault {
        NONE,
        DROP,
        DUPLICATE,
        REORDER,
        TEAR,
        DELAY,
        CUT
    }

    /**
     * Returns the fault for a random number.
     *
     * @param draw 0 to 999
     */
    Fault of(int draw) {
        int[] shares = {drop, duplicate, reorder, tear, delay, cut};
        int bound = 0;
        for (int i = 0; i < shares.length; i++) {
            bound += shares[i];
            if (draw < bound) {
                return Fault.values()[i + 1];
            }
        }
        return Fault.NONE;
    }
}
