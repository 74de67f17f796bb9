// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.verbs;

/** Why verbs are or became unusable; part of logs and metrics. */
public enum VerbsFailure {
    /** The native library is missing or damaged, or a library that it depends on is missing. */
    NO_LIBRARY,
    /** The JVM was started without the module options that DiSNI needs. */
    CLOSED_JVM,
    /** The kernel has no RDMA device, or this process may not open it. */
    NO_DEVICE,
    /** A region is larger than the memory that this process may lock. */
    LOCKED_MEMORY,
    /** No device has the local address, or no device reaches the peer's address. */
    NO_ROUTE,
    /** The peer is reachable but did not accept the connection in time. */
    NO_CONNECTION,
    /** The peer's device rejected a write, because key, address or length match no region. */
    REFUSED_ACCESS,
    /** The connection is lost permanently: open a new one. */
    CONNECTION_LOST,
    /** A call failed; the message contains its errno. */
    FAILED_CALL
}
