// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.engine;

import io.github.gpujoin.core.region.MemoryRefusedException;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * An engine cannot be created or cannot continue, but another engine can run the join.
 *
 * <p>The caller retains all build chunks; {@link JoinEngine#snapshot()} of the failed engine
 * contains its in-flight probes. It submits both to another engine and closes this one.
 */
public class EngineUnavailableException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** Whether a retry on the same device may succeed. */
    public enum Scope {
        /**
         * The tables or buffers of this engine do not fit: a budget, the machine or a table's
         * maximum is exceeded. Other engines are unaffected, and a later or smaller one may fit.
         */
        NO_MEMORY,
        /**
         * The device cannot run this join: it failed, is missing, belongs to another class loader,
         * or does not support the join. The caller does not retry on it.
         */
        DEVICE,
        /**
         * A file of spilled rows could not be created, written or read: the disk is full, say. A
         * later join, or one within its memory, may succeed.
         */
        FILE
    }

    private final Scope scope;

    /**
     * @param sentence message in one sentence: fault, values, remedy
     * @param cause null if no exception caused this one
     */
    public EngineUnavailableException(Scope scope, String sentence, @Nullable Throwable cause) {
        super(sentence, cause);
        this.scope = scope;
    }

    /** Returns an exception of scope {@link Scope#NO_MEMORY} with the message of {@code e}. */
    public static EngineUnavailableException noMemory(MemoryRefusedException e) {
        return new EngineUnavailableException(Scope.NO_MEMORY, e.getMessage(), e);
    }

    /** Returns the failure to create a file for spilled rows. */
    public static EngineUnavailableException noSpillFile(Path directory, IOException e) {
        return new EngineUnavailableException(
                Scope.FILE,
                "A file for spilled rows cannot be created: directory="
                        + directory
                        + ". Name a directory that can be written.",
                e);
    }

    /**
     * Returns the failure of a file of spilled rows.
     *
     * @param fault the fault and its values, without a full stop
     */
    public static EngineUnavailableException spillFileFailed(String fault, IOException e) {
        return new EngineUnavailableException(
                Scope.FILE,
                fault
                        + ", error="
                        + e.getMessage()
                        + ". Free or repair the disk, name another directory or allow more memory.",
                e);
    }

    public final Scope scope() {
        return scope;
    }
}
