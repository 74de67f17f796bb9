package io.github.gpujoin.rdma.transport.twin;

/**
 * How often a {@link TwinTransport} breaks its promises: writes of a thousand.
 *
 * @param drop are lost
 * @param duplicate land again, later
 * @param reorder land late, after writes that followed them, flush or not
 * @param tear land in part, and the rest later or never
 * @param delay hold up all that follow, too
 * @param cut break their connection, with what was under way
 * @param maxDelayNs of what lands late
 */
public record TwinFaults(
        int drop, int duplicate, int reorder, int tear, int delay, int cut, long maxDelayNs) {

    public static final TwinFaults NONE = new TwinFaults(0, 0, 0, 0, 0, 0, 1);

    public TwinFaults {
        int sum = drop + duplicate + reorder + tear + delay + cut;
        boolean negative = (drop | duplicate | reorder | tear | delay | cut) < 0;
        if (negative || sum > 1000 || maxDelayNs < 1) {
            throw new IllegalArgumentException(
                    "faults are 0 to 1000 of a thousand writes, and delays positive: sum="
                            + sum
                            + ", maxDelayNs="
                            + maxDelayNs);
        }
    }

    /** What befalls a write. */
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
