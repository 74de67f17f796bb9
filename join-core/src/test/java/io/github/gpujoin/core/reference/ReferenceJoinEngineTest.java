// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.reference;

import io.github.gpujoin.core.engine.JoinEngineConformance;
import io.github.gpujoin.core.engine.JoinEngineFactory;

class ReferenceJoinEngineTest extends JoinEngineConformance {

    @Override
    protected JoinEngineFactory factory() {
        return new ReferenceJoinEngineFactory();
    }
}
