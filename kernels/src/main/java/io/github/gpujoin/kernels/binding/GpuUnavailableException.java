// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.binding;

import io.github.gpujoin.core.engine.EngineUnavailableException;
import org.jspecify.annotations.Nullable;

/**
 * The GPU cannot do what was requested; another engine can. No rows are lost: the caller of an
 * engine keeps its input until the results have been emitted.
 *
 * <p>{@link GpuFailure#OUT_OF_DEVICE_MEMORY} has the scope {@link Scope#NO_MEMORY}, all other
 * failures have {@link Scope#DEVICE}.
 */
public final class GpuUnavailableException extends EngineUnavailableException {

    private static final long serialVersionUID = 1L;

    private final GpuFailure failure;

    /**
     * @param sentence the fault, then name=value pairs, then a remedy if there is one
     */
    public GpuUnavailableException(GpuFailure failure, String sentence) {
        this(failure, sentence, null);
    }

    public GpuUnavailableException(GpuFailure failure, String sentence, @Nullable Throwable cause) {
        super(
                failure == GpuFailure.OUT_OF_DEVICE_MEMORY ? Scope.NO_MEMORY : Scope.DEVICE,
                sentence,
                cause);
        this.failure = failure;
    }

    /** Returns a copy for another caller, with its own stack trace. */
    GpuUnavailableException copy() {
        return new GpuUnavailableException(failure, super.getMessage(), this);
    }

    public GpuFailure failure() {
        return failure;
    }

    /** Returns the sentence, followed by the name of the failure in parentheses. */
    @Override
    public String getMessage() {
        return super.getMessage() + " (" + failure + ")";
    }
}
