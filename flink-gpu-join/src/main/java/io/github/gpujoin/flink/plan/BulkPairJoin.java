// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.plan;

import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.flink.api.data.ChunkTypeInfo;
import io.github.gpujoin.flink.api.explain.JoinExplanation;
import io.github.gpujoin.flink.emit.PairKind;
import io.github.gpujoin.flink.emit.ResultEmitters;
import io.github.gpujoin.flink.pack.PackOperator;
import io.github.gpujoin.flink.record.KeyColumn;
import io.github.gpujoin.flink.record.RecordLayout;
import io.github.gpujoin.flink.runtime.bulk.BulkJoinSettings;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;

/** Builds the operators of a join of two streams of whole records in batch mode. */
final class BulkPairJoin<B, P> {

    private static final int BUILD = 0;

    private final DataStream<B> build;
    private final DataStream<P> probe;
    private final BulkTopology topology;

    BulkPairJoin(DataStream<B> build, DataStream<P> probe, BulkTopology topology) {
        this.build = build;
        this.probe = probe;
        this.topology = topology;
    }

    /**
     * Rejects a condition that a bulk join cannot evaluate: it compares keys only.
     *
     * @throws IllegalArgumentException unless the join is inner
     */
    static void requireNoCondition(PairKind kind, JoinUid uid) {
        if (kind != PairKind.INNER) {
            throw new IllegalArgumentException(
                    "Batch mode has no conditions of %s joins: uid=%s. Remove .matching(...), use an inner join, or set execution.runtime-mode to STREAMING."
                            .formatted(kind, uid.text()));
        }
    }

    <R> SingleOutputStreamOperator<R> apply(
            PairJoinPlan<B, P, R> plan,
            boolean isPartitioned,
            JoinExplanation explanation,
            TypeInformation<R> resultType) {
        DataStream<Chunk> builds =
                topology.pack(
                        UncopiedType.stream(build),
                        new PackOperator<>(
                                plan.build(),
                                null,
                                topology.packing("build", BUILD, isPartitioned)),
                        "build",
                        ChunkTypeInfo.ofDimensions(List.of(plan.build().schema())));
        DataStream<Chunk> probes =
                topology.pack(
                        UncopiedType.stream(probe),
                        new PackOperator<>(
                                plan.probe(),
                                null,
                                topology.packing("probe", ChunkDescriptor.FACTS, isPartitioned)),
                        "probe",
                        ChunkTypeInfo.of(plan.probe().schema()));
        topology.emitBadRecords();
        return topology.join(
                BulkTopology.JOIN,
                builds,
                probes,
                isPartitioned,
                new BulkJoinSettings(
                        plan.spec(),
                        spec(plan),
                        1,
                        topology.joins(),
                        topology.metrics(),
                        explanation),
                ResultEmitters.function(plan.spec(), plan.build(), plan.probe(), plan.join()),
                resultType);
    }

    private static BulkJoinSpec spec(PairJoinPlan<?, ?, ?> plan) {
        return BulkSpecs.of(
                plan.spec(),
                BulkJoinKind.valueOf(plan.join().kind().name()),
                "probe",
                keyColumn(plan.probe()),
                keyColumn(plan.build()));
    }

    private static int keyColumn(RecordLayout<?> layout) {
        KeyColumn<?> key = layout.keys().get(0);
        return layout.schema().require(key.comparedName());
    }
}
