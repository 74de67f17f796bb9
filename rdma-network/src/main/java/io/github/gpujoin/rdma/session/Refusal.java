// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.session;

/**
 * Why a reader refuses a writer. The codes are part of the wire format.
 *
 * <p>The writer retries after {@link #BUSY}. Any other refusal fails its session.
 */
public enum Refusal {
    VERSION(1, "The reader uses another protocol version", false),
    CHANNEL(2, "The reader has no such channel", false),
    STALE_ATTEMPT(3, "A later attempt writes this channel", false),
    PROOF(4, "The writer does not hold the token of its attempt", false),
    BUSY(5, "Another connection of this channel arrived before this one was accepted", true);

    private final byte code;
    private final String message;
    private final boolean isRetryable;

    Refusal(int code, String message, boolean isRetryable) {
        this.code = (byte) code;
        this.message = message;
        this.isRetryable = isRetryable;
    }

    byte code() {
        return code;
    }

    String message() {
        return message;
    }

    /** Whether the reader may accept the same writer later. */
    boolean isRetryable() {
        return isRetryable;
    }

    static Refusal of(byte code) throws ProtocolException {
        for (Refusal refusal : values()) {
            if (refusal.code == code) {
                return refusal;
            }
        }
        throw new ProtocolException("Unknown refusal: code=" + code + ". Expected 1 to 5.");
    }
}
