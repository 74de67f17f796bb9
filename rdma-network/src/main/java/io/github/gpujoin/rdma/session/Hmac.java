package io.github.gpujoin.rdma.session;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** HMAC-SHA256 over parts that tell their own length, behind a word that says what for. */
final class Hmac {

    private static final String ALGORITHM = "HmacSHA256";

    /**
     * Why there is none, null where there is. Kept for all that ask: the JDK initialises its
     * cryptography once, from files, and tells only the first why that failed.
     */
    private static final Throwable WANT = initialise();

    private Hmac() {}

    private static Throwable initialise() {
        try {
            Mac.getInstance(ALGORITHM);
            return null;
        } catch (GeneralSecurityException | LinkageError e) {
            return e;
        }
    }

    static byte[] of(byte[] key, String purpose, byte[]... parts) {
        if (WANT != null) {
            throw unavailable(WANT);
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

    /** Names the root of the cause, too, since messages travel where causes do not. */
    private static IllegalStateException unavailable(Throwable cause) {
        Throwable root = cause;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return new IllegalStateException(
                "Rings prove themselves by %s, and this JVM has none: reason=%s. Start the process again."
                        .formatted(ALGORITHM, root),
                cause);
    }
}
