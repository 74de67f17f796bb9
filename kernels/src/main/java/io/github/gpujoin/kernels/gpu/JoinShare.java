// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import java.io.Serializable;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The claim of a join to the bus of each device that it uses, beside other joins of the process.
 *
 * @param join engines with the same one have one claim together; null: an engine and its forks have
 *     one
 * @param weight of the join's bytes while several joins have facts waiting; from 0.01 to 100
 */
public record JoinShare(@Nullable UUID join, double weight) implements Serializable {

    private static final long serialVersionUID = 1L;

    /** Least weight of a join: beside one of the greatest, a step of 1 MiB waits for 0.2 s. */
    public static final double MIN_WEIGHT = 0.01;

    /** Greatest weight of a join. */
    public static final double MAX_WEIGHT = 100;

    /** A claim of each engine and its forks, as large as that of any other. */
    static final JoinShare OF_ENGINE = new JoinShare(null, 1);

    /**
     * Checks the weight.
     *
     * @throws IllegalArgumentException if the weight is out of range
     */
    public JoinShare {
        if (!(weight >= MIN_WEIGHT && weight <= MAX_WEIGHT)) {
            throw new IllegalArgumentException(
                    "Weight of a join out of range %s to %s: weight=%s"
                            .formatted(MIN_WEIGHT, MAX_WEIGHT, weight));
        }
    }

    /** Returns this claim for one join, a new one if none is named. */
    JoinShare ofOneJoin() {
        return join == null ? new JoinShare(UUID.randomUUID(), weight) : this;
    }
}
