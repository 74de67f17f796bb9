// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.session;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/** HMAC-SHA256 over a purpose and parts that contain their own lengths. */
final class Hmac {

    private static final String ALGORITHM = "HmacSHA256";

    /**
     * Why the algorithm is unavailable. Kept for all callers: the JDK initialises its cryptography
     * once, from files, and reports a failure only to the first.
     */
    private static final @Nullable Throwable UNAVAILABLE = initialise();

    private Hmac() {}

    private static @Nullable Throwable initialise() {
        try {
            Mac.getInstance(ALGORITHM);
            return null;
        } catch (GeneralSecurityException | LinkageError e) {
            return e;
        }
    }

    static byte[] of(byte[] key, String purpose, byte[]... parts) {
        if (UNAVAILABLE != null) {
            throw unavailable(UNAVAILABLE);
        }
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(new SecretKeySpec(key, ALGORITHM));
            mac.update(purpose.getBytes(StandardCharsets.US_ASCII));
            mac.update((byte) 0);
            for (byte[] part : parts) {
                mac.update(part);
            }
            return mac.doFinal();
        } catch (GeneralSecurityException e) {
            throw unavailable(e);
        }
    }

    /** Includes the root cause, because messages travel where causes do not. */
    private static IllegalStateException unavailable(Throwable cause) {
        Throwable root = cause;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return new IllegalStateException(
                "Rings cannot authenticate: this JVM lacks %s, reason=%s. Restart the process."
                        .formatted(ALGORITHM, root),
                cause);
    }
}
