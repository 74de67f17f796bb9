// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.transport;

/**
 * A transport between processes that share memory. The sender stores directly into the target.
 *
 * <pre>
 *   receiver                                   sender
 *   target = registerTarget(n)
 *            target.descriptor()  ----------&gt;  mapped = map(descriptor)
 *            reads target.address()  =======   writes mapped.address()
 * </pre>
 *
 * <p>The memory model orders accesses: a reader that loads with acquire order what the sender
 * stored with release order sees all earlier stores.
 */
public non-sealed interface SharedTransport extends Transport {

    /**
     * Maps the peer's target. Its memory lasts until both sides have closed it, so the sender can
     * reread what it wrote after the receiver closed the target or registered another.
     *
     * @param descriptor result of {@link Target#descriptor()} on the peer's side; untrusted bytes
     * @throws TransportException if the descriptor is malformed or the target no longer exists
     */
    RegisteredMemory map(byte[] descriptor) throws TransportException;
}
