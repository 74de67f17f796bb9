package io.github.gpujoin.rdma.verbs;

/** What a writer and a receiver of {@link VerbsCheck} do together, on a connection of their own. */
enum CheckCase {
    /** Chunks through a ring; the receiver compares every byte. */
    CHUNKS,
    /** A write that ends one byte beyond the region. */
    BEYOND_END,
    /** A write with a key that was never given. */
    WRONG_KEY,
    /** A write into a region that the receiver has revoked. */
    REVOKED,
    /** The receiver's process ends in the middle of a chunk. */
    RECEIVER_DIES,
    /** The writer's process ends in the middle of a chunk. */
    WRITER_DIES,
    /** The transport over it, with a ring that is revoked in the middle. */
    TRANSPORT,
    /** A session over the transport, whose channel a second attempt takes over. */
    SESSION,
    /** As {@link #SESSION}, with rings registered and seen as those in a GPU's memory are. */
    GPU_SESSION,
    /** The receiver ends. */
    STOP
}
