// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.engine;

import io.github.gpujoin.core.region.MemoryRefusedException;

/**
 * An engine cannot continue, but another engine can. The caller closes this engine and replays the
 * chunks to another one; it retains all chunks it submitted.
 */
public class EngineUnavailableException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** Which engines are affected. */
    public enum Scope {
        /** This engine found no memory. Engines that have their memory are unaffected. */
        NO_MEMORY,
        /** All engines of the device: none can be used from now on. */
        DEVICE
    }

    private final Scope scope;

    /**
     * @param sentence message in one sentence: fault, values, remedy
     * @param cause or null
     */
    public EngineUnavailableException(Scope scope, String sentence, Throwable cause) {
        super(sentence, cause);
        this.scope = scope;
    }

    /** Returns an exception of scope {@link Scope#NO_MEMORY} with the message of {@code e}. */
    public static EngineUnavailableException noMemory(MemoryRefusedException e) {
        return new EngineUnavailableException(Scope.NO_MEMORY, e.getMessage(), e);
    }

    public final Scope scope() {
        return scope;
    }
}
