package io.github.gpujoin.kernels.gpu;

/** How the build rows of a dimension are found; the ordinal is the kernels' number. */
enum TableKind {
    /** Open addressing at half load, slots are rows: keys do not repeat, or need not. */
    UNIQUE,
    /** Head-and-chain: small; every match but the first costs a step along the chain. */
    CHAINED,
    /** Open addressing at half load over rows grouped by key: any match is reached at once. */
    GROUPED;

    private static final int OPEN_SLOTS_PER_ROW = 2;

    long slotCount(long rowCount) {
        return this == CHAINED ? rowCount : OPEN_SLOTS_PER_ROW * rowCount;
    }

    /** Device memory of the slots. */
    long slotsBytes(long rowCount, int rowBytes) {
        int slotBytes =
                switch (this) {
                    case UNIQUE -> rowBytes;
                    case CHAINED -> PlanDescriptor.CHAIN_HEAD_BYTES;
                    case GROUPED -> PlanDescriptor.KEY_SLOT_BYTES;
                };
        return slotCount(rowCount) * slotBytes;
    }

    /** Device memory of rows beside the slots. */
    long rowsBytes(long rowCount, int rowBytes) {
        return this == UNIQUE ? 0 : rowCount * rowBytes;
    }

    /** Where keys are unique: the kind that takes less memory at this width of rows. */
    static TableKind smallestOfUniqueKeys(int rowBytes) {
        long unique = UNIQUE.slotsBytes(1, rowBytes);
        long grouped = GROUPED.slotsBytes(1, rowBytes) + GROUPED.rowsBytes(1, rowBytes);
        return unique <= grouped ? UNIQUE : GROUPED;
    }
}
