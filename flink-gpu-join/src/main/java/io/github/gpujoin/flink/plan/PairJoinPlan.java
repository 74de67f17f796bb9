// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.plan;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.flink.emit.HashedKeys;
import io.github.gpujoin.flink.emit.PairJoinSpec;
import io.github.gpujoin.flink.emit.PairKind;
import io.github.gpujoin.flink.record.KeyLayout.Nulls;
import io.github.gpujoin.flink.record.RecordLayout;
import io.github.gpujoin.flink.record.SelectedKey;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.functions.JoinFunction;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.jspecify.annotations.Nullable;

/**
 * Layouts of both sides of a pair join, and the join of their rows.
 *
 * @param spec of the emitters; the build side is its only dimension
 */
record PairJoinPlan<B, P, R>(
        RecordLayout<B> build, RecordLayout<P> probe, PairJoinSpec<B, P, R> join, JoinSpec spec) {

    private static final String BUILD = "build";

    /**
     * Plans a join.
     *
     * @param isBulk whether a bulk join compares keys; otherwise an engine compares integers, and
     *     the emitter the keys of equal hashes
     * @param condition null for none
     * @param function null if the plan is for an explanation only
     */
    static <B, P, R> PairJoinPlan<B, P, R> of(
            DataStream<B> build,
            DataStream<P> probe,
            PairKeys<B, P, ?> keys,
            Nulls nulls,
            PairKind kind,
            boolean isBulk,
            @Nullable JoinFunction<B, P, Boolean> condition,
            @Nullable JoinFunction<B, P, R> function) {
        SelectedKey<B, ?> buildKey = keys.ofBuild(nulls);
        SelectedKey<P, ?> probeKey = keys.ofProbe(nulls);
        RecordLayout<B> buildLayout = layout(build, buildKey);
        RecordLayout<P> probeLayout = layout(probe, probeKey);
        if (isBulk || buildKey.layout().isExact()) {
            return of(
                    buildLayout.withKeyBytes(),
                    probeLayout.withKeyBytes(),
                    new PairJoinSpec<>(kind, null, condition, function));
        }
        HashedKeys<B, P> hashed = new HashedKeys<>(buildKey, probeKey);
        return of(buildLayout, probeLayout, new PairJoinSpec<>(kind, hashed, condition, function));
    }

    private static <T> RecordLayout<T> layout(DataStream<T> stream, SelectedKey<T, ?> key) {
        return RecordLayout.whole(
                stream.getType(), key, stream.getExecutionConfig().getSerializerConfig());
    }

    private static <B, P, R> PairJoinPlan<B, P, R> of(
            RecordLayout<B> build, RecordLayout<P> probe, PairJoinSpec<B, P, R> join) {
        PairKind kind = join.kind();
        RecordLayout<B> packedBuild = kind.keepsUnmatchedBuild() ? build.numbered() : build;
        RecordLayout<P> timed = probe.withTimestamp();
        RecordLayout<P> packedProbe =
                kind.keepsUnmatchedProbe()
                        ? timed.keepingNullKeys(Map.of(RecordLayout.KEY, 1))
                        : timed;
        DimensionSpec dimension =
                new DimensionSpec(
                        BUILD,
                        packedBuild.schema(),
                        packedBuild.schema().require(RecordLayout.KEY),
                        packedProbe.schema().require(RecordLayout.KEY),
                        kind.withAllMatches(join.isVerified()));
        JoinSpec spec =
                new JoinSpec(
                        packedProbe.schema(),
                        List.of(dimension),
                        List.of(),
                        null,
                        packedProbe.schema().indexOf(RecordLayout.NULL_KEYS));
        return new PairJoinPlan<>(packedBuild, packedProbe, join, spec);
    }
}
