package io.github.gpujoin.hybrid;

import io.github.gpujoin.core.engine.JoinEngineConformance;
import io.github.gpujoin.core.engine.JoinEngineFactory;

/**
 * No unit ever has tables: they are made from the log for a chunk, of all build rows or, where rows
 * are asked for, of one build chunk at a time.
 */
class HybridSpilledConformanceTest extends JoinEngineConformance {

    @Override
    protected JoinEngineFactory factory() {
        return new LoggedHybrid(
                null,
                spec -> CrampedEngines.create(spec, spec.aggregates() ? Integer.MAX_VALUE : 1));
    }

    @Override
    protected boolean appliesChanges() {
        return false;
    }
}
