// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.state;

import io.github.gpujoin.core.layout.Chunk;
import java.io.Serializable;

/** Compares keys of build rows in state with those that the job computes from the same rows. */
@FunctionalInterface
public interface KeyCheck extends Serializable {

    /** Keys are columns of their own. */
    KeyCheck NONE = None.INSTANCE;

    /** An enum, so that it stays one object after serialization. */
    enum None implements KeyCheck {
        INSTANCE;

        @Override
        public void check(Chunk chunk) {}
    }

    /**
     * @throws IllegalStateException if the job computes another key of a row
     */
    void check(Chunk chunk) throws Exception;
}
