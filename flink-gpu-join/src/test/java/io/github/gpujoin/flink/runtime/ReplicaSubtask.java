// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.api.options.LateDimensionRows;
import io.github.gpujoin.flink.runtime.expiry.DimensionTtl;
import io.github.gpujoin.flink.state.JoinColumns;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;

/** A subtask of {@link ReplicaOperator} whose dimensions are all replicated. */
final class ReplicaSubtask extends OneInputStreamOperatorTestHarness<Chunk, Chunk> {

    ReplicaSubtask(JoinSpec spec, List<DimensionTtl> ttls, int parallelism, int index)
            throws Exception {
        super(
                new ReplicaOperatorFactory(
                        new ReplicaSettings(
                                spec,
                                new Replicas(
                                        IntStream.range(0, spec.dimensions().size())
                                                .boxed()
                                                .collect(
                                                        Collectors.toMap(
                                                                dimension -> dimension,
                                                                dimension -> Replicas.UNLIMITED))),
                                JoinScenario.MAX_PARALLELISM,
                                ttls,
                                LateRowPolicy.of(LateDimensionRows.FAIL),
                                JoinColumns.of(spec),
                                -1)),
                JoinScenario.MAX_PARALLELISM,
                parallelism,
                index);
        getStreamConfig()
                .setStateKeySerializer(
                        Types.INT.createSerializer(getExecutionConfig().getSerializerConfig()));
        getStreamConfig().serializeAllConfigs();
    }

    void runMails(int atMost) throws Exception {
        for (int i = 0; i < atMost && getTaskMailbox().hasMail(); i++) {
            getTaskMailbox().take(0).run();
        }
    }
}
