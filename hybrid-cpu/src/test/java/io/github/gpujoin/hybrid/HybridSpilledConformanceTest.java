// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid;

import io.github.gpujoin.core.engine.JoinEngineConformance;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.hybrid.testing.CrampedEngines;
import io.github.gpujoin.hybrid.testing.LoggedHybrid;

/**
 * Conformance if all build rows are spilled: temporary tables are built from the log for each probe
 * chunk, of all build rows or, without aggregation, of one build chunk at a time.
 */
class HybridSpilledConformanceTest extends JoinEngineConformance {

    @Override
    protected JoinEngineFactory factory() {
        return new LoggedHybrid(
                null,
                spec -> CrampedEngines.create(spec, spec.isAggregating() ? Integer.MAX_VALUE : 1));
    }

    @Override
    protected boolean appliesChanges() {
        return false;
    }
}
