// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.state;

import io.github.gpujoin.core.layout.Chunk;
import java.io.Serializable;

/** Compares the keys of build rows in state with those that the job computes of the same rows. */
@FunctionalInterface
public interface KeyCheck extends Serializable {

    /** Keys are columns of their own. */
    KeyCheck NONE = None.INSTANCE;

    /** Stays one object when a job is sent to its tasks. */
    enum None implements KeyCheck {
        INSTANCE;

        @Override
        public void check(Chunk chunk) {}
    }

    /**
     * @throws IllegalStateException if a row has another key by now
     */
    void check(Chunk chunk) throws Exception;
}
