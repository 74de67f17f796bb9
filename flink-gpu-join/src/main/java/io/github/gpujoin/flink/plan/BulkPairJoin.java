// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.plan;

import io.github.gpujoin.core.bulk.BulkInput;
import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.bulk.BulkOutput;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.flink.api.data.ChunkTypeInfo;
import io.github.gpujoin.flink.api.explain.JoinExplanation;
import io.github.gpujoin.flink.emit.PairKind;
import io.github.gpujoin.flink.emit.ResultEmitters;
import io.github.gpujoin.flink.pack.PackOperator;
import io.github.gpujoin.flink.record.RecordLayout;
import io.github.gpujoin.flink.runtime.bulk.BulkJoinSettings;
import java.util.List;
import java.util.stream.IntStream;
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
                    "Condition of a %s join in batch mode: uid=%s. Remove .matching(...), use an inner join, or set execution.runtime-mode to STREAMING."
                            .formatted(kind, uid.text()));
        }
    }

    <R> SingleOutputStreamOperator<R> apply(
            PairJoinPlan<B, P, R> plan,
            boolean isPartitioned,
            JoinExplanation explanation,
            TypeInformation<R> resultType) {
        return topology.join(
                topology.pack(
                        build,
                        new PackOperator<>(
                                plan.build(),
                                null,
                                topology.packing("build", BUILD, isPartitioned)),
                        "build",
                        ChunkTypeInfo.ofDimensions(List.of(plan.build().schema()))),
                topology.pack(
                        probe,
                        new PackOperator<>(
                                plan.probe(),
                                null,
                                topology.packing("probe", ChunkDescriptor.FACTS, isPartitioned)),
                        "probe",
                        ChunkTypeInfo.of(plan.probe().schema())),
                isPartitioned,
                new BulkJoinSettings(plan.spec(), spec(plan), topology.joins(), explanation),
                ResultEmitters.function(plan.spec(), plan.build(), plan.probe(), plan.join()),
                resultType);
    }

    private static BulkJoinSpec spec(PairJoinPlan<?, ?, ?> plan) {
        BulkJoinKind kind = BulkJoinKind.valueOf(plan.join().kind().name());
        return new BulkJoinSpec(
                input("probe", plan.probe()),
                input("build", plan.build()),
                kind,
                false,
                new BulkOutput.Rows(
                        columns(plan.probe().schema()), buildColumns(plan.build().schema(), kind)));
    }

    private static BulkInput input(String name, RecordLayout<?> layout) {
        String key =
                layout.keys().get(0).key().layout().isExact()
                        ? RecordLayout.KEY
                        : layout.keys().get(0).bytesName();
        return new BulkInput(name, layout.schema(), List.of(layout.schema().require(key)));
    }

    private static List<Integer> columns(ChunkSchema schema) {
        return IntStream.range(0, schema.size()).boxed().toList();
    }

    /** Emitters read the integer of a build key from the probe row, unless there is none. */
    private static List<Integer> buildColumns(ChunkSchema schema, BulkJoinKind kind) {
        if (!kind.returnsPairs()) {
            return List.of();
        }
        int key = schema.require(RecordLayout.KEY);
        boolean isAlone = kind == BulkJoinKind.RIGHT || kind == BulkJoinKind.FULL;
        return columns(schema).stream().filter(column -> isAlone || column != key).toList();
    }
}
