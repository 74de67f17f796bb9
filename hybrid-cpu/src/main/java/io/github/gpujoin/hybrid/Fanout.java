package io.github.gpujoin.hybrid;

/**
 * Into how many units a build side is divided: one where all of it fits the fastest place, since
 * one large table is probed faster than many small ones; else so many that what does not fit at the
 * end of a budget is at most about a sixteenth of it.
 */
final class Fanout {

    /** Least units where there is more than one. */
    static final int MIN_UNITS = 16;

    private Fanout() {}

    /**
     * @param neededBytes of tables, while they are made, for the whole build side
     * @param budgetBytes of the fastest place
     * @param partitions radix partitions, of which a unit has at least one
     * @return a power of two, or {@code partitions} where that is less than 16
     */
    static int units(long neededBytes, long budgetBytes, int partitions) {
        if (neededBytes <= budgetBytes) {
            return 1;
        }
        long wanted = MIN_UNITS * Math.max(1, neededBytes / Math.max(1, budgetBytes));
        return divided(wanted, partitions);
    }

    /** The smallest power of two from 16 on that is at least as large, as far as partitions go. */
    static int divided(long wanted, int partitions) {
        int most = partitions < MIN_UNITS ? partitions : Integer.highestOneBit(partitions);
        long units = MIN_UNITS;
        while (units < wanted && units < most) {
            units *= 2;
        }
        return (int) Math.min(units, most);
    }
}
