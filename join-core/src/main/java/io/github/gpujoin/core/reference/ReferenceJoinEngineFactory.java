// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.reference;

import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinSpec;

/** Creates {@link ReferenceJoinEngine}s. */
public final class ReferenceJoinEngineFactory implements JoinEngineFactory {

    private static final long serialVersionUID = 1L;

    @Override
    public String engineName() {
        return "reference";
    }

    @Override
    public JoinEngine create(JoinSpec spec) {
        return new ReferenceJoinEngine(spec);
    }
}
