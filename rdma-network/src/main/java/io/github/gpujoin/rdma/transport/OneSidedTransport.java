// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.transport;

/**
 * A transport that copies from registered memory of the sender into the target. {@link Connection}
 * states its guarantees.
 *
 * <pre>
 *   receiver                                   sender
 *   target = registerTarget(n)                 source = registerSource(m)
 *            target.descriptor()  ----------&gt;  connection = connect(descriptor, source)
 *            reads target.address()  &lt;=======  connection.write(...), flush(), write(...), poll()
 * </pre>
 */
public non-sealed interface OneSidedTransport extends Transport {

    /**
     * Registers zeroed memory, aligned to a cache line, to send from. Registration is expensive:
     * register once, not for each write.
     *
     * @param lengthBytes from 1 byte to {@link #MAX_REGISTERED_BYTES}
     * @throws TransportException as {@link #registerTarget}
     */
    RegisteredMemory registerSource(long lengthBytes) throws TransportException;

    /**
     * Opens a connection to a peer's target.
     *
     * <p>Never blocks, because the caller's thread may drive many sessions. {@link
     * Connection#write} returns false until the peer has accepted; {@link Connection#poll} throws
     * if the peer does not.
     *
     * @param descriptor result of {@link Target#descriptor()} on the peer's side; untrusted bytes
     * @param source registered by this transport; the connection does not close it
     * @throws TransportException if the descriptor is malformed
     */
    Connection connect(byte[] descriptor, RegisteredMemory source) throws TransportException;
}
