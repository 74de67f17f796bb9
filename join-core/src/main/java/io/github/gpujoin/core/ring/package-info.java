// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Rings of slots between one writer and one reader, in one process or between two. {@link
 * io.github.gpujoin.core.ring.SlotDescriptor} draws the layout and explains the protocol; {@link
 * io.github.gpujoin.core.ring.RingWriter} and {@link io.github.gpujoin.core.ring.RingReader}
 * implement it.
 */
package io.github.gpujoin.core.ring;
