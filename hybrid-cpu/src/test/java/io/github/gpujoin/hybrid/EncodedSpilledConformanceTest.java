// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid;

import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.testing.InSlots;

/** Spilled partitions are joined with chunks whose columns are encoded by all plans. */
class EncodedSpilledConformanceTest extends HybridSpilledConformanceTest {

    @Override
    protected JoinEngineFactory factory() {
        return InSlots.encodedOnHeap(super.factory());
    }
}
