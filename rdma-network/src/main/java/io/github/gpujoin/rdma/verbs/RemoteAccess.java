// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.verbs;

/** How peers may access a registered region. */
public enum RemoteAccess {
    /** Not at all: only this host's network card reads the region, to send it. */
    NONE,
    /** Write, but not read, with the region's {@linkplain Registration#remoteKey() remote key}. */
    WRITE
}
