// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu;

import io.github.gpujoin.core.engine.GroupProfile;

/**
 * Measures filters and sums by group in the CPU engine; arguments: threads, milliseconds a case.
 */
public final class CpuGroupProfile {

    private CpuGroupProfile() {}

    public static void main(String[] args) throws Exception {
        GroupProfile.run(new CpuJoinEngineFactory(), args);
    }
}
