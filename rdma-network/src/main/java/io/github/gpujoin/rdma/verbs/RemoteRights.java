package io.github.gpujoin.rdma.verbs;

/** What peers may do with a registered region: never more than the region is for. */
public enum RemoteRights {
    /** Nothing: the region is read by this host's device, to be sent. */
    NONE,
    /** Write, with the region's remote key. */
    WRITE
}
