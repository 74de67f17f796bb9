// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.symmetric;

import io.github.gpujoin.core.engine.EngineUnavailableException;
import io.github.gpujoin.core.region.MemoryReservations;
import java.io.Serializable;
import java.util.List;

/** Creates indexes on one kind of device. Serialized with a job. */
public interface MatchIndexFactory extends Serializable {

    /** Returns the name of the device in metrics and logs, for example {@code gpu}. */
    String deviceName();

    /**
     * Creates an empty index, which the caller closes.
     *
     * @param removesRows for each of the two inputs whether rows leave it
     * @param hostMemory bounds the host memory of the index
     * @throws io.github.gpujoin.core.engine.EngineUnavailableException if the device cannot be used
     *     or has no memory
     */
    MatchIndex create(List<Boolean> removesRows, MemoryReservations hostMemory);

    /** Returns the refusal of a join of several inputs, with the reason code of the device. */
    EngineUnavailableException multiJoinUnsupported(int inputs);
}
