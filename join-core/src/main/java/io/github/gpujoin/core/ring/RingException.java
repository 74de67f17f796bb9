// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.ring;

/** The peer violated the protocol of a ring. The ring is unusable. */
public final class RingException extends RuntimeException {

    private static final long serialVersionUID = 1;

    public RingException(String message) {
        super(message);
    }
}
