// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

/** Data structure of a table. The ordinal is the number that the kernels use. */
enum TableKind {
    /** Open addressing at half load; slots are rows. One row a key. */
    UNIQUE,
    /** Head-and-chain: small, but every match after the first costs a step along the chain. */
    CHAINED,
    /** Open addressing at half load over rows grouped by key: any match is found in one access. */
    GROUPED;

    private static final int OPEN_SLOTS_PER_ROW = 2;

    long slotCount(long rowCount) {
        return this == CHAINED ? rowCount : OPEN_SLOTS_PER_ROW * rowCount;
    }

    /** Returns the bytes of the slots in device memory. */
    long slotsBytes(long rowCount, int rowBytes) {
        int slotBytes =
                switch (this) {
                    case UNIQUE -> rowBytes;
                    case CHAINED -> PlanDescriptor.CHAIN_HEAD_BYTES;
                    case GROUPED -> PlanDescriptor.KEY_SLOT_BYTES;
                };
        return slotCount(rowCount) * slotBytes;
    }

    /** Returns the bytes of rows that are stored beside the slots. */
    long rowsBytes(long rowCount, int rowBytes) {
        return this == UNIQUE ? 0 : rowCount * rowBytes;
    }

    /** Returns the kind that needs less memory for unique keys at this row width. */
    static TableKind smallestOfUniqueKeys(int rowBytes) {
        long unique = UNIQUE.slotsBytes(1, rowBytes);
        long grouped = GROUPED.slotsBytes(1, rowBytes) + GROUPED.rowsBytes(1, rowBytes);
        return unique <= grouped ? UNIQUE : GROUPED;
    }
}
