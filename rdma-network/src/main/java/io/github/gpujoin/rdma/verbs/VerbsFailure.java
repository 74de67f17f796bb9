package io.github.gpujoin.rdma.verbs;

/** Why verbs cannot be used, or can no longer be used. Stands in logs and metrics. */
public enum VerbsFailure {
    /** The native library is not in the jar, damaged, or lacks the libraries that it stands on. */
    NO_LIBRARY,
    /** The JVM was started without the module options that DiSNI needs. */
    CLOSED_JVM,
    /** The kernel knows no RDMA device, or this process may not use it. */
    NO_DEVICE,
    /** A region is larger than the memory that this process may lock. */
    LOCKED_MEMORY,
    /** The local address is none of a device, or no device reaches the peer's address. */
    NO_ROUTE,
    /** The peer is reachable and does not accept the connection, or not in time. */
    NO_CONNECTION,
    /** The peer's device refused a write: key, address or length were not those of a region. */
    REFUSED_ACCESS,
    /** The connection is lost. It never comes back: a new one is needed. */
    CONNECTION_LOST,
    /** A call failed for a reason that only its errno tells. */
    FAILED_CALL
}
