// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.record;

/** Creates exceptions for snapshots that no release can have written. */
public final class SnapshotDamage {

    private SnapshotDamage() {}

    /**
     * Returns an exception whose remedy is an earlier snapshot. Callers wrap it in Flink's {@code
     * SuppressRestartsException}, since a restart would read the same damage.
     *
     * @param state name of the damaged state
     * @param fault what is wrong, with its values; no full stop at the end
     */
    public static IllegalStateException in(String state, String fault) {
        return new IllegalStateException(
                "The snapshot is damaged: state=%s, %s.\nRestore an earlier snapshot."
                        .formatted(state, fault));
    }

    /**
     * Returns the exception of {@link #in(String, String)} with a cause.
     *
     * @param cause failure of the code that read the state
     */
    public static IllegalStateException in(String state, String fault, Throwable cause) {
        IllegalStateException damage = in(state, fault);
        damage.initCause(cause);
        return damage;
    }
}
