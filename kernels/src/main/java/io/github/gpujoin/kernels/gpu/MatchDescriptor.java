// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

/**
 * Byte layout of an index of a symmetric join in device memory, the structs MatchIndex and
 * MatchSlot of {@code match_index.h}. All words are int64.
 *
 * <pre>
 *   0       8          16     24           32     40        48          64           80
 *   +-------+----------+------+------------+------+---------+-----------+------------+
 *   | slots | slotMask | seed | multiplier | used | pending | next of 2 | previous   |
 *   +-------+----------+------+------------+------+---------+-----------+------------+
 * </pre>
 */
final class MatchDescriptor {

    static final int BYTES = 80;
    static final int SLOTS_OFFSET = 0;
    static final int SLOT_MASK_OFFSET = 8;
    static final int SEED_OFFSET = 16;
    static final int MULTIPLIER_OFFSET = 24;
    static final int USED_OFFSET = 32;
    static final int PENDING_OFFSET = 40;
    static final int NEXT_OFFSET = 48;
    static final int PREVIOUS_OFFSET = 64;

    /** Of a slot: the key, and the first link of each input. */
    static final int SLOT_BYTES = 16;

    private MatchDescriptor() {}
}
