// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.engine.GroupProfile;

/**
 * Measures filters and sums by group in the GPU engine. Arguments: threads, milliseconds for each
 * case.
 */
public final class GpuGroupProfile {

    private GpuGroupProfile() {}

    public static void main(String[] args) throws Exception {
        GroupProfile.run(new GpuJoinEngineFactory(), args);
    }
}
