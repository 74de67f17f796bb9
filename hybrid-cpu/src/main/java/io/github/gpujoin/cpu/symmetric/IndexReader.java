// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.symmetric;

import io.github.gpujoin.core.region.Memory;

/**
 * Reads the slots of some rows in host memory, then the rows to which these refer, so that the
 * processor overlaps their cache misses.
 */
final class IndexReader {

    private final KeyIndex index;
    private final SideTable[] tables;
    private final int[] chainRows;

    /** Keeps the JIT compiler from dropping the reads. */
    private long touched;

    /**
     * @param maxRows rows that are read at once
     */
    IndexReader(KeyIndex index, SideTable[] tables, int maxRows) {
        this.index = index;
        this.tables = tables;
        this.chainRows = new int[maxRows];
    }

    /** Reads the slots of the rows. */
    void readSlots(int[] hashes, int count) {
        long sum = 0;
        for (int i = 0; i < count; i++) {
            sum += KeyIndex.key(index.home(hashes[i]));
        }
        touched += sum;
    }

    /** Reads the rows that a changelog changes. */
    void readRows(SideTable own, int[] hashes, int[] identityHashes, int count) {
        long sum = 0;
        for (int i = 0; i < count; i++) {
            sum += own.touchRow(index.home(hashes[i]), identityHashes[i]);
        }
        touched += sum;
    }

    /** Walks the chains of other tables than the own one. */
    void walkChains(SideTable own, int[] hashes, int count) {
        for (SideTable other : tables) {
            if (other != own) {
                walk(other, hashes, count);
            }
        }
    }

    private void walk(SideTable other, int[] hashes, int count) {
        int chains = 0;
        for (int i = 0; i < count; i++) {
            int first = Memory.getInt(index.home(hashes[i]) + other.linkOffset);
            if (first < 0 || first != 0 && other.hasMatches) {
                chainRows[chains++] = RowLinks.id(first);
            }
        }
        other.walkAhead(chainRows, chains);
    }
}
