// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

/** How a subtask receives the payload of a chunk from a ring. */
public enum PayloadAccess {
    /** Copied to the heap and verified; for chunks that are kept. */
    COPY,
    /** Left in its slot and verified there; for readers on the CPU. */
    VERIFIED_IN_PLACE,
    /** Left in its slot; for readers that verify it themselves, as the kernel of a GPU does. */
    IN_PLACE
}
