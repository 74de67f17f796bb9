package io.github.gpujoin.flink.pipeline;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.flink.chunk.ChunkTypeInfo;
import io.github.gpujoin.flink.emit.PairJoin;
import io.github.gpujoin.flink.emit.PairKind;
import io.github.gpujoin.flink.emit.ResultEmitters;
import io.github.gpujoin.flink.pack.PackOperator;
import io.github.gpujoin.flink.pack.Packing;
import io.github.gpujoin.flink.pack.RecordLayout;
import io.github.gpujoin.flink.transport.JoinInput;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.functions.JoinFunction;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.api.java.typeutils.TypeExtractor;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** Makes the operators of a join of two streams of whole records. */
public final class PairJoinPipeline<B, P> {

    private static final String DEFAULT_UID = "gpu-join";

    private final StreamExecutionEnvironment env;
    private final DataStream<B> build;
    private final DataStream<P> probe;
    private final RecordLayout<B> buildLayout;
    private final RecordLayout<P> probeLayout;
    private String uid = DEFAULT_UID;
    private Distribution distribution;
    private long expectedBytes = Long.MAX_VALUE;
    private PairKind kind = PairKind.INNER;
    private JoinFunction<B, P, Boolean> condition;

    /**
     * @throws IllegalArgumentException where a key is neither Integer nor Long
     */
    public <K> PairJoinPipeline(
            DataStream<B> build,
            KeySelector<B, K> buildKey,
            TypeInformation<K> buildKeyType,
            DataStream<P> probe,
            KeySelector<P, K> probeKey,
            TypeInformation<K> probeKeyType) {
        this.env = probe.getExecutionEnvironment();
        this.build = build;
        this.probe = probe;
        this.buildLayout = layout(build, buildKey, buildKeyType);
        this.probeLayout = layout(probe, probeKey, probeKeyType).withTimestamp();
    }

    private <T, K> RecordLayout<T> layout(
            DataStream<T> stream, KeySelector<T, K> key, TypeInformation<K> keyType) {
        return RecordLayout.whole(
                stream.getType(),
                env.clean(key),
                keyType,
                stream.getExecutionConfig().getSerializerConfig());
    }

    public void uid(String uid) {
        this.uid = uid;
    }

    public void kind(PairKind kind) {
        this.kind = kind;
    }

    public void condition(JoinFunction<B, P, Boolean> condition) {
        this.condition = env.clean(condition);
    }

    public void expectedBytes(long bytes) {
        this.expectedBytes = bytes;
    }

    public void replicated() {
        this.distribution = Distribution.REPLICATED;
    }

    /** Type that the function declares. */
    public <R> TypeInformation<R> resultType(JoinFunction<B, P, R> function) {
        return TypeExtractor.getBinaryOperatorReturnType(
                function,
                JoinFunction.class,
                0,
                1,
                2,
                TypeExtractor.NO_INDEX,
                build.getType(),
                probe.getType(),
                "GpuJoin.apply",
                false);
    }

    public <R> SingleOutputStreamOperator<R> apply(
            JoinFunction<B, P, R> function, TypeInformation<R> resultType) {
        JoinTopology topology = new JoinTopology(env, uid);
        boolean partitioned = isPartitioned(topology);
        RecordLayout<B> buildLayout = this.buildLayout;
        if (kind.keepsUnmatchedBuild()) {
            requireNotReplicated();
            BoundedInput.require("the probe side of a right or full join", probe);
            buildLayout = buildLayout.numbered();
        }
        PairJoin<B, P, R> join = new PairJoin<>(kind, condition, env.clean(function));
        RecordLayout<P> probeLayout =
                kind.keepsUnmatchedProbe()
                        ? this.probeLayout.keepingNullKeys(Map.of(RecordLayout.KEY, 1))
                        : this.probeLayout;
        JoinSpec spec = spec(buildLayout, probeLayout);
        SingleOutputStreamOperator<Chunk> packedBuild =
                pack(
                        build,
                        buildLayout,
                        packing(topology, "build", 0, partitioned),
                        ChunkTypeInfo.ofDimensions(List.of(buildLayout.schema())),
                        topology.uid("pack-build"));
        SingleOutputStreamOperator<Chunk> packedProbe =
                pack(
                        probe,
                        probeLayout,
                        packing(topology, "probe", ChunkDescriptor.FACTS, partitioned),
                        ChunkTypeInfo.of(probeLayout.schema()),
                        topology.uid("pack-probe"));
        return topology.join(
                List.of(topology.dimension(packedBuild, "build", Long.MAX_VALUE, partitioned)),
                partitioned
                        ? topology.byPartition(packedProbe, "probe", JoinInput.PROBE)
                        : packedProbe,
                spec,
                partitioned ? 0 : JoinTopology.NONE,
                ResultEmitters.function(spec, buildLayout, probeLayout, join),
                resultType);
    }

    private boolean isPartitioned(JoinTopology topology) {
        return kind.keepsUnmatchedBuild()
                || distribution != Distribution.REPLICATED
                        && expectedBytes > topology.replicateMaxBytes();
    }

    private void requireNotReplicated() {
        if (distribution == Distribution.REPLICATED) {
            throw new IllegalArgumentException(
                    "a build row without a match is known where all probe rows of its key come by,"
                            + " so the build side of a right or full join is not replicated: kind="
                            + kind
                            + ", uid="
                            + uid);
        }
    }

    private JoinSpec spec(RecordLayout<B> buildLayout, RecordLayout<P> probeLayout) {
        DimensionSpec side =
                new DimensionSpec(
                        "build",
                        buildLayout.schema(),
                        buildLayout.schema().require(RecordLayout.KEY),
                        probeLayout.schema().require(RecordLayout.KEY),
                        kind.ofCandidates(condition != null));
        return new JoinSpec(
                probeLayout.schema(),
                List.of(side),
                List.of(),
                null,
                probeLayout.schema().indexOf(RecordLayout.NULL_KEYS));
    }

    private static Packing packing(
            JoinTopology topology, String side, int dimension, boolean partitioned) {
        return new Packing(
                side,
                dimension,
                partitioned ? topology.partitions() : 0,
                0,
                topology.chunkBytes(),
                topology.flushIntervalMs());
    }

    private static <T> SingleOutputStreamOperator<Chunk> pack(
            DataStream<T> stream,
            RecordLayout<T> layout,
            Packing packing,
            ChunkTypeInfo type,
            String uid) {
        return stream.transform(
                        "pack " + packing.side(), type, new PackOperator<>(layout, null, packing))
                .setParallelism(stream.getParallelism())
                .setBufferTimeout(0)
                .uid(uid);
    }
}
