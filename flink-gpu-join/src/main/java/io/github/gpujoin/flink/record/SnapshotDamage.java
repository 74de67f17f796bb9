// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.record;

/** Errors of snapshots that no release can have written. */
public final class SnapshotDamage {

    private SnapshotDamage() {}

    /**
     * Creates the error. It is an {@link IllegalStateException}, as is the refusal of a snapshot of
     * another join: a restart from the snapshot would meet it again.
     *
     * @param state name of the damaged state
     * @param fault with its values
     */
    public static IllegalStateException in(String state, String fault) {
        return new IllegalStateException(
                "The snapshot is damaged: state=%s, %s.\nRestore an earlier snapshot."
                        .formatted(state, fault));
    }

    /**
     * Does the same as {@link #in(String, String)}, with a cause.
     *
     * @param cause what the reader of the state met
     */
    public static IllegalStateException in(String state, String fault, Throwable cause) {
        IllegalStateException damage = in(state, fault);
        damage.initCause(cause);
        return damage;
    }
}
