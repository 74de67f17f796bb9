// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.engine;

import io.github.gpujoin.core.region.MemoryReservations;
import java.io.Serializable;

/** Creates engines of one kind. Flink serializes it with the job. */
public interface JoinEngineFactory extends Serializable {

    /** Returns the name of the kind as in the option that selects it, such as {@code cpu}. */
    String engineName();

    JoinEngine create(JoinSpec spec);

    /**
     * Returns a factory whose engines reserve their host memory before they allocate it. The result
     * is not serializable.
     *
     * @return this factory if its engines have a budget of their own, or none
     */
    default JoinEngineFactory within(MemoryReservations hostMemory) {
        return this;
    }
}
