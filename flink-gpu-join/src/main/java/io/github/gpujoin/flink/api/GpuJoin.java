package io.github.gpujoin.flink.api;

import io.github.gpujoin.flink.chunk.BadRecord;
import io.github.gpujoin.flink.emit.PairKind;
import io.github.gpujoin.flink.pack.KeyLayout;
import io.github.gpujoin.flink.pipeline.PairJoinPipeline;
import java.util.function.Consumer;
import org.apache.flink.api.common.functions.JoinFunction;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.api.java.typeutils.TypeExtractor;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;

/**
 * Joins two streams: every probe record with every build record of the same key, or as {@link
 * Keyed#left()} and its like say.
 *
 * <pre>{@code
 * DataStream<Enriched> enriched =
 *         GpuJoin.build(customers)
 *                 .probe(orders)
 *                 .where(c -> c.id)                   // key of the build side
 *                 .equalTo(o -> o.customerId)         // key of the probe side
 *                 .apply((c, o) -> new Enriched(o, c.name));
 * }</pre>
 *
 * <p>The build side is loaded first, until it ends; probe records that come earlier wait in state.
 * Both sides are sent to the subtask of their key, unless the build side is {@linkplain
 * Keyed#replicated() replicated} or {@linkplain Keyed#expectedBytes(long) small}. Records with a
 * null key match nothing, unless the join is {@linkplain Keyed#nullSafe() null-safe}.
 *
 * <p>A key is a number, boolean, date, time, timestamp, text or byte array, or a tuple, Row or POJO
 * of those. Longer keys than 64 bits are joined by a hash, and pairs that it finds compared once
 * more. All numbers that are no number (NaN) are one key, 0.0 and -0.0 too, and 1.0 and 1.00 as
 * decimals. For joins of more than two streams, of selected columns, or in chunks, see {@link
 * StarJoin}.
 */
public final class GpuJoin {

    private GpuJoin() {}

    /** The side that is loaded; as a rule the smaller one. */
    public static <B> Build<B> build(DataStream<B> build) {
        return new Build<>(build);
    }

    /** The build side, waiting for a probe side. */
    public static final class Build<B> {
        private final DataStream<B> build;

        private Build(DataStream<B> build) {
            this.build = build;
        }

        /** The side that streams. */
        public <P> Sides<B, P> probe(DataStream<P> probe) {
            return new Sides<>(build, probe);
        }
    }

    /** Both sides, waiting for their keys. */
    public static final class Sides<B, P> {
        private final DataStream<B> build;
        private final DataStream<P> probe;

        private Sides(DataStream<B> build, DataStream<P> probe) {
            this.build = build;
            this.probe = probe;
        }

        /** Key of the build side; null, or with a null in it, for a record that matches nothing. */
        public <K> Where<B, P, K> where(KeySelector<B, K> buildKey) {
            return where(buildKey, TypeExtractor.getKeySelectorTypes(buildKey, build.getType()));
        }

        /** As {@link #where(KeySelector)} where the key's type cannot be extracted. */
        public <K> Where<B, P, K> where(KeySelector<B, K> buildKey, TypeInformation<K> type) {
            return new Where<>(this, buildKey, type);
        }
    }

    /** The build side's key, waiting for the probe side's. */
    public static final class Where<B, P, K> {
        private final Sides<B, P> sides;
        private final KeySelector<B, K> buildKey;
        private final TypeInformation<K> buildKeyType;

        private Where(
                Sides<B, P> sides, KeySelector<B, K> buildKey, TypeInformation<K> buildKeyType) {
            this.sides = sides;
            this.buildKey = buildKey;
            this.buildKeyType = buildKeyType;
        }

        /**
         * Key of the probe side, of the same type; null, or with a null in it, for a record that
         * matches nothing.
         */
        public Keyed<B, P> equalTo(KeySelector<P, K> probeKey) {
            TypeInformation<K> type =
                    TypeExtractor.getKeySelectorTypes(probeKey, sides.probe.getType());
            return equalTo(probeKey, type);
        }

        /** As {@link #equalTo(KeySelector)} where the key's type cannot be extracted. */
        public Keyed<B, P> equalTo(KeySelector<P, K> probeKey, TypeInformation<K> type) {
            return new Keyed<>(
                    new PairJoinPipeline<>(
                            sides.build, buildKey, buildKeyType, sides.probe, probeKey, type));
        }
    }

    /** A join that only lacks what is to be made of each pair. */
    public static final class Keyed<B, P> {
        private final PairJoinPipeline<B, P> pipeline;

        private Keyed(PairJoinPipeline<B, P> pipeline) {
            this.pipeline = pipeline;
        }

        /** Prefix of the uids of the join's operators; two joins of one job need two. */
        public Keyed<B, P> uid(String uid) {
            pipeline.uid(uid);
            return this;
        }

        /**
         * How large the build side is, by which it is replicated where it is small ({@code
         * gpu-join.replicate-max-bytes}), unless the kind of join keeps its records.
         */
        public Keyed<B, P> expectedBytes(long bytes) {
            pipeline.expectedBytes(bytes);
            return this;
        }

        /**
         * Counts how often the build side is read again, from 0: see {@link Dimension#generation}.
         * Not for right and full joins, which have in state which build records had a match.
         */
        public Keyed<B, P> buildGeneration(int generation) {
            pipeline.buildGeneration(generation);
            return this;
        }

        /** Every subtask gets the whole build side, and probe records stay where they are. */
        public Keyed<B, P> replicated() {
            pipeline.replicated();
            return this;
        }

        /**
         * Keeps probe records that match nothing: the function gets null in place of a build
         * record.
         */
        public Keyed<B, P> left() {
            pipeline.kind(PairKind.LEFT);
            return this;
        }

        /**
         * Keeps build records that match nothing: at the end of the probe side, which is bounded,
         * the function gets them once with null in place of a probe record. They have no event
         * timestamp. The build side is not replicated.
         */
        public Keyed<B, P> right() {
            pipeline.kind(PairKind.RIGHT);
            return this;
        }

        /** As {@link #left()} and {@link #right()} together. */
        public Keyed<B, P> full() {
            pipeline.kind(PairKind.FULL);
            return this;
        }

        /** Keeps a probe record once if it matches at all; build records are null. */
        public Keyed<B, P> semi() {
            pipeline.kind(PairKind.SEMI);
            return this;
        }

        /** Keeps a probe record once if it matches nothing; build records are null. */
        public Keyed<B, P> anti() {
            pipeline.kind(PairKind.ANTI);
            return this;
        }

        /**
         * Has a null key equal a null key, and a null in a key a null in the same place of another:
         * SQL's {@code IS NOT DISTINCT FROM} in place of {@code =}.
         */
        public Keyed<B, P> nullSafe() {
            pipeline.nulls(KeyLayout.Nulls.MATCH_NULLS);
            return this;
        }

        /**
         * Gives records that cannot be read to a stream of their own, with the reason, rather than
         * failing the job: those of any side whose filter or key throws, or whose fields do not
         * hold what their types say. Counted by the metric {@code badRecords} of the side's packer.
         *
         * @param sink is given the stream when the join is made, and does something with it
         */
        public Keyed<B, P> badRecords(Consumer<DataStream<BadRecord>> sink) {
            pipeline.badRecords().user(sink);
            return this;
        }

        /**
         * A further condition under which records with equal keys match: a record whose candidates
         * all fail it has no match. Evaluated where results are made, for each candidate until the
         * kind of join needs no more. Neither record is to be changed.
         *
         * @param condition gets the build record first; may be a rich function
         */
        public Keyed<B, P> matching(JoinFunction<B, P, Boolean> condition) {
            pipeline.condition(condition);
            return this;
        }

        /** As {@link StarJoin#explain()}. */
        public String explain() {
            return pipeline.explain().toString();
        }

        /**
         * Calls the function for every result: for every pair of matching records, the build record
         * first, unless the kind of join is another.
         */
        public <R> SingleOutputStreamOperator<R> apply(JoinFunction<B, P, R> function) {
            return apply(function, pipeline.resultType(function));
        }

        /** As {@link #apply(JoinFunction)} where the result's type cannot be extracted. */
        public <R> SingleOutputStreamOperator<R> apply(
                JoinFunction<B, P, R> function, TypeInformation<R> type) {
            return pipeline.apply(function, type);
        }
    }
}
