// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.ring;

/** State of the next slot, as a reader found it. */
public enum SlotState {
    /** The next sequence is not published. */
    EMPTY,
    /** The slot is published, but its bytes are incomplete or of another epoch. */
    TORN,
    /** The slot is complete. */
    READY
}
