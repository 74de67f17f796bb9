package io.github.gpujoin.core.reference;

import io.github.gpujoin.core.engine.JoinEngineConformance;
import io.github.gpujoin.core.engine.JoinEngineFactory;

class ReferenceJoinEngineTest extends JoinEngineConformance {

    @Override
    protected JoinEngineFactory factory() {
        return new ReferenceJoinEngineFactory();
    }
}
