package io.github.gpujoin.kernels.gpu;

/** How the build rows of a dimension are found; the ordinal is the kernels' number. */
enum TableKind {
    /** Open addressing at half load: keys do not repeat, or need not. */
    UNIQUE(PlanDescriptor.KEY_SLOT_BYTES, 2),
    /** Head-and-chain: small; every match but the first costs a step along the chain. */
    CHAINED(PlanDescriptor.CHAIN_HEAD_BYTES, 1),
    /** Open addressing at half load over rows grouped by key: any match is reached at once. */
    GROUPED(PlanDescriptor.KEY_SLOT_BYTES, 2);

    private final int slotBytes;
    private final int slotsPerRow;

    TableKind(int slotBytes, int slotsPerRow) {
        this.slotBytes = slotBytes;
        this.slotsPerRow = slotsPerRow;
    }

    long slotCount(long rowCount) {
        return slotsPerRow * rowCount;
    }

    /** Device memory beside the rows. */
    long slotsBytes(long rowCount) {
        return slotCount(rowCount) * slotBytes;
    }
}
