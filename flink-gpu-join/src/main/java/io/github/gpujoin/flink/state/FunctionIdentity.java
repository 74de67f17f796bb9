// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.state;

import io.github.gpujoin.flink.record.ColumnsKey;
import io.github.gpujoin.flink.record.SnapshotDamage;
import java.io.IOException;
import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Identifies a user's function, to detect a change since a snapshot: a digest of the instructions
 * of the method that implements it, and of the values that it captured. Names of anonymous classes
 * and of lambdas, line numbers and other debug information have no effect.
 *
 * <p>Changes of called methods, of static fields, and of classes without a class file are not
 * detected.
 *
 * @param description for messages
 * @param digest starts with the version of its rules; {@link #UNKNOWN} if it cannot be computed
 */
public record FunctionIdentity(String description, String digest) implements Serializable {

    private static final Logger LOG = LoggerFactory.getLogger(FunctionIdentity.class);

    /** Version of the rules of digests; digests of different versions are not compared. */
    private static final String VERSION = "1:";

    private static final String UNKNOWN = "?";
    private static final int DIGEST_BYTES = 8;

    /** Identity of a missing function. */
    static final FunctionIdentity NONE = new FunctionIdentity("none", VERSION + "none");

    /**
     * @param role of the function, for the log
     * @param method that the function implements
     */
    public static FunctionIdentity of(String role, @Nullable Serializable function, String method) {
        if (function == null) {
            return NONE;
        }
        if (function instanceof ColumnsKey<?> key) {
            return new FunctionIdentity("columns " + key.columns(), VERSION + key.columns());
        }
        try {
            FunctionText text = FunctionText.of(function, method);
            return new FunctionIdentity(text.description(), VERSION + digest(text.text()));
        } catch (IOException | ReflectiveOperationException | RuntimeException e) {
            LOG.info(
                    "{} is not compared with that of a snapshot, since its code cannot be read: {}",
                    role,
                    e.toString());
            return new FunctionIdentity(function.getClass().getName(), UNKNOWN);
        }
    }

    private static String digest(String text) {
        try {
            byte[] digest =
                    MessageDigest.getInstance("SHA-256")
                            .digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest, 0, DIGEST_BYTES);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("This Java platform lacks SHA-256.", e);
        }
    }

    /** Whether both have comparable digests, which differ. */
    boolean differsFrom(FunctionIdentity other) {
        return digest.startsWith(VERSION)
                && other.digest.startsWith(VERSION)
                && !digest.equals(other.digest);
    }

    /**
     * Inverse of {@link #toString}.
     *
     * @throws IllegalStateException if no identity has this text
     */
    static FunctionIdentity parse(String text) {
        int at = text.lastIndexOf('@');
        if (at < 0) {
            throw SnapshotDamage.in(
                    JoinMetadata.FUNCTIONS, "a function has no digest: value=" + text);
        }
        return new FunctionIdentity(text.substring(0, at), text.substring(at + 1));
    }

    @Override
    public String toString() {
        return description + '@' + digest;
    }
}
