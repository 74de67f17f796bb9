// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.session;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.SecureRandom;
import java.util.UUID;

/**
 * Secret of one job, known to its coordinator and its readers. A writer holds only the {@link
 * AttemptToken} of its own attempt, so the token of an old attempt is useless later.
 */
public final class JobSecret {

    public static final int BYTES = 32;

    private final byte[] bytes;

    /**
     * @param bytes exactly {@value #BYTES}; copied
     */
    public JobSecret(byte[] bytes) {
        if (bytes.length != BYTES) {
            throw new IllegalArgumentException(
                    "Secret of a wrong length: lengthBytes=" + bytes.length + ". Expected 32.");
        }
        this.bytes = bytes.clone();
    }

    public static JobSecret random() {
        byte[] bytes = new byte[BYTES];
        new SecureRandom().nextBytes(bytes);
        return new JobSecret(bytes);
    }

    public byte[] bytes() {
        return bytes.clone();
    }

    /** Derives the token of an execution attempt. */
    public AttemptToken token(UUID job, int attempt) {
        ByteBuffer subject = ByteBuffer.allocate(20).order(ByteOrder.LITTLE_ENDIAN);
        subject.putLong(job.getMostSignificantBits()).putLong(job.getLeastSignificantBits());
        subject.putInt(attempt);
        return new AttemptToken(Hmac.of(bytes, "gpu-join attempt", subject.array()));
    }

    @Override
    public String toString() {
        return "JobSecret";
    }
}
