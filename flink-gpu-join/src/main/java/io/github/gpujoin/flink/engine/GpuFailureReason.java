// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import io.github.gpujoin.flink.api.explain.ReasonCode;
import io.github.gpujoin.kernels.binding.GpuFailure;

/** Explains why a GPU does not join. */
public final class GpuFailureReason {

    private GpuFailureReason() {}

    /** The reason code of the failure's name. */
    public static ReasonCode of(GpuFailure failure) {
        return ReasonCode.valueOf(failure.name());
    }
}
