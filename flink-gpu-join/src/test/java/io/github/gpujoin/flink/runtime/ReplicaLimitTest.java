// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.github.gpujoin.core.layout.Chunk;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ReplicaLimitTest {

    private static final List<Chunk> CHUNKS = JoinScenario.random(1, false).buildChunks();

    /** 300 rows of two INT64 columns. */
    private static final long BYTES = 300 * 16;

    @Test
    void shouldRefuseADimensionThatIsMeasuredLargerThanItsLimit() {
        assertThatIllegalStateException()
                .isThrownBy(() -> addAll(BYTES - 1))
                .withMessage(
                        "Replicated dimension too large: dimension=dimension, measured at least 4800"
                                + " bytes, gpu-join.replicate-max-bytes=4799.\n"
                                + "Use .partitioned() for it, .replicated() to replicate it at any"
                                + " size, or raise the option.");
    }

    @Test
    void shouldAcceptADimensionOfItsLimitAndAnyThatIsReplicatedByName() {
        assertThatCode(() -> addAll(BYTES)).doesNotThrowAnyException();
        assertThatCode(() -> addAll(Replicas.UNLIMITED)).doesNotThrowAnyException();
    }

    private static void addAll(long maxBytes) {
        ReplicaLimit limit =
                new ReplicaLimit(JoinScenario.spec(), new Replicas(Map.of(0, maxBytes)));
        CHUNKS.forEach(limit::add);
    }
}
