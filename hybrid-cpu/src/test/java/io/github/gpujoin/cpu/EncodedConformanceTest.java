// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu;

import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.testing.InSlots;

/** The engine reads chunks whose columns are encoded by all plans. */
class EncodedConformanceTest extends CpuJoinEngineConformanceTest {

    @Override
    protected JoinEngineFactory factory() {
        return InSlots.encodedOnHeap(super.factory());
    }
}
