// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.verbs;

/** Cases of {@link VerbsCheck} between a writer and a receiver, each on its own connection. */
enum CheckCase {
    /** Sends chunks through a ring; the receiver compares every byte. */
    CHUNKS,
    /** A write that ends one byte beyond the region. */
    BEYOND_END,
    /** A write with a key that never existed. */
    WRONG_KEY,
    /** A write into a region that the receiver has revoked. */
    REVOKED,
    /** The receiver's process ends in the middle of a chunk. */
    RECEIVER_DIES,
    /** The writer's process ends in the middle of a chunk. */
    WRITER_DIES,
    /** A transport whose ring is revoked while chunks are sent. */
    TRANSPORT,
    /** A session over the transport; a second attempt replaces the first. */
    SESSION,
    /** As {@link #SESSION}, with rings registered and read like rings in GPU memory. */
    GPU_SESSION,
    /** The receiver ends. */
    STOP
}
