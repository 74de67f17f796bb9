// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import io.github.gpujoin.flink.api.data.BadRecord;
import io.github.gpujoin.flink.api.explain.JoinExplanation;
import io.github.gpujoin.flink.emit.PairKind;
import io.github.gpujoin.flink.plan.JoinUid;
import io.github.gpujoin.flink.plan.PairJoinPipeline;
import io.github.gpujoin.flink.record.KeyLayout;
import java.util.Objects;
import java.util.function.Consumer;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.api.common.functions.JoinFunction;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.api.java.typeutils.TypeExtractor;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;

/**
 * Joins two streams of whole records: every probe record with every build record of the same key,
 * unless {@link Keyed#left()} or another method chooses another kind of join.
 *
 * <pre>{@code
 * DataStream<Enriched> enriched =
 *         PairJoin.build(customers)
 *                 .probe(orders)
 *                 .where(c -> c.id)                   // key of the build side
 *                 .equalTo(o -> o.customerId)         // key of the probe side
 *                 .uid("enrich-orders")
 *                 .apply((c, o) -> new Enriched(o, c.name));
 * }</pre>
 *
 * <p>In streaming mode, the join loads the build side first, until it ends. Probe records that
 * arrive earlier wait in state. Records of both sides are sent to the subtask of their key, unless
 * the build side is {@linkplain Keyed#replicated() replicated} or {@linkplain
 * Keyed#expectedBytes(long) small}. A null key matches nothing, unless the join is {@linkplain
 * Keyed#nullSafe() null-safe}.
 *
 * <p>A key is a number, boolean, date, time, timestamp, text or byte array, or a tuple, Row or POJO
 * of those. The join hashes keys longer than 64 bits and compares full keys after hash equality.
 * All NaNs are equal, as are 0.0 and -0.0, and the decimals 1.0 and 1.00. In batch mode, both sides
 * are bounded, and joined once they have ended. Use {@link StarJoin} for more than two streams, for
 * selected columns, or for chunks.
 */
@PublicEvolving
public final class PairJoin {

    private PairJoin() {}

    /**
     * Starts a join.
     *
     * @param <B> build records
     * @param build the side that is loaded, usually the smaller one
     * @return a join whose probe stream is not chosen yet
     */
    public static <B> Build<B> build(DataStream<B> build) {
        return new Build<>(Objects.requireNonNull(build, "build"));
    }

    /**
     * A join whose probe side is not chosen yet.
     *
     * @param <B> build records
     */
    @PublicEvolving
    public static final class Build<B> {
        private final DataStream<B> build;

        private Build(DataStream<B> build) {
            this.build = build;
        }

        /**
         * Chooses the probe side.
         *
         * @param <P> probe records
         * @param probe the side that streams
         * @return a join whose keys are not chosen yet
         */
        public <P> Inputs<B, P> probe(DataStream<P> probe) {
            return new Inputs<>(build, Objects.requireNonNull(probe, "probe"));
        }
    }

    /**
     * A join whose keys are not chosen yet.
     *
     * @param <B> build records
     * @param <P> probe records
     */
    @PublicEvolving
    public static final class Inputs<B, P> {
        private final DataStream<B> build;
        private final DataStream<P> probe;

        private Inputs(DataStream<B> build, DataStream<P> probe) {
            this.build = build;
            this.probe = probe;
        }

        /**
         * Sets the key of the build side.
         *
         * @param <K> keys
         * @param buildKey returns null, or a key that contains null, for a record that matches
         *     nothing
         * @return a join whose probe key is not chosen yet
         */
        public <K> Where<B, P, K> where(KeySelector<B, K> buildKey) {
            Objects.requireNonNull(buildKey, "buildKey");
            return where(buildKey, TypeExtractor.getKeySelectorTypes(buildKey, build.getType()));
        }

        /**
         * Sets the key of the build side if Flink cannot extract its type.
         *
         * @param <K> keys
         * @param buildKey returns the key of a build record
         * @param type type of the keys
         * @return a join whose probe key is not chosen yet
         */
        public <K> Where<B, P, K> where(KeySelector<B, K> buildKey, TypeInformation<K> type) {
            return new Where<>(
                    this,
                    Objects.requireNonNull(buildKey, "buildKey"),
                    Objects.requireNonNull(type, "type"));
        }
    }

    /**
     * A join whose probe side has no key yet.
     *
     * @param <B> build records
     * @param <P> probe records
     * @param <K> keys
     */
    @PublicEvolving
    public static final class Where<B, P, K> {
        private final Inputs<B, P> inputs;
        private final KeySelector<B, K> buildKey;
        private final TypeInformation<K> buildKeyType;

        private Where(
                Inputs<B, P> inputs, KeySelector<B, K> buildKey, TypeInformation<K> buildKeyType) {
            this.inputs = inputs;
            this.buildKey = buildKey;
            this.buildKeyType = buildKeyType;
        }

        /**
         * Sets the key of the probe side, of the build key's type.
         *
         * @param probeKey returns null, or a key that contains null, for a record that matches
         *     nothing
         * @return the join, to be described further
         * @throws IllegalArgumentException if values of the type cannot be keys
         */
        public Keyed<B, P> equalTo(KeySelector<P, K> probeKey) {
            Objects.requireNonNull(probeKey, "probeKey");
            TypeInformation<K> type =
                    TypeExtractor.getKeySelectorTypes(probeKey, inputs.probe.getType());
            return equalTo(probeKey, type);
        }

        /**
         * Sets the key of the probe side if Flink cannot extract its type.
         *
         * @param probeKey returns the key of a probe record
         * @param type type of the keys
         * @return the join, to be described further
         * @throws IllegalArgumentException if values of the type cannot be keys
         */
        public Keyed<B, P> equalTo(KeySelector<P, K> probeKey, TypeInformation<K> type) {
            return new Keyed<>(
                    new PairJoinPipeline<>(
                            inputs.build,
                            buildKey,
                            buildKeyType,
                            inputs.probe,
                            Objects.requireNonNull(probeKey, "probeKey"),
                            Objects.requireNonNull(type, "type")));
        }
    }

    /**
     * A join that lacks only the function for its results. Methods other than {@code apply} change
     * this builder and return it. After {@code apply}, they throw {@link IllegalStateException},
     * except {@link #uid}. Not thread-safe.
     *
     * @param <B> build records
     * @param <P> probe records
     */
    @PublicEvolving
    public static final class Keyed<B, P> {
        private final PairJoinPipeline<B, P> pipeline;

        private Keyed(PairJoinPipeline<B, P> pipeline) {
            this.pipeline = pipeline;
        }

        /**
         * Keeps probe records without a match. The function receives null instead of a build
         * record.
         *
         * @return this builder
         */
        public Keyed<B, P> left() {
            open("left").kind(PairKind.LEFT);
            return this;
        }

        /**
         * Keeps build records without a match. At the end of the probe side, which must be bounded,
         * the function receives each once, with null instead of a probe record. These results have
         * no event timestamp. The build side cannot be replicated.
         *
         * @return this builder
         */
        public Keyed<B, P> right() {
            open("right").kind(PairKind.RIGHT);
            return this;
        }

        /**
         * Keeps records of both sides without a match, as {@link #left()} and {@link #right()}.
         *
         * @return this builder
         */
        public Keyed<B, P> full() {
            open("full").kind(PairKind.FULL);
            return this;
        }

        /**
         * Keeps a probe record once if it has a match. The function receives no build record.
         *
         * @return this builder
         */
        public Keyed<B, P> semi() {
            open("semi").kind(PairKind.SEMI);
            return this;
        }

        /**
         * Keeps a probe record once if it has no match. The function receives no build record.
         *
         * @return this builder
         */
        public Keyed<B, P> anti() {
            open("anti").kind(PairKind.ANTI);
            return this;
        }

        /**
         * Treats nulls as equal, also inside composite keys ({@code IS NOT DISTINCT FROM}).
         *
         * @return this builder
         */
        public Keyed<B, P> nullSafe() {
            open("nullSafe").nulls(KeyLayout.Nulls.MATCH_NULLS);
            return this;
        }

        /**
         * Adds a condition that records with equal keys must meet to match. The join evaluates it
         * for each pair of equal keys; semi and anti joins stop at the first match of a record. A
         * second call replaces the condition. In batch mode, only an inner join can have one.
         *
         * @param condition receives the build record first and must not change records; may be a
         *     rich function
         * @return this builder
         */
        public Keyed<B, P> matching(JoinFunction<B, P, Boolean> condition) {
            open("matching").condition(Objects.requireNonNull(condition, "condition"));
            return this;
        }

        /**
         * Sends the whole build side to every subtask; probe records stay where they are.
         *
         * @return this builder
         */
        public Keyed<B, P> replicated() {
            open("replicated").replicated();
            return this;
        }

        /**
         * Sends records of both sides to the subtask of their key, whatever the expected size.
         *
         * @return this builder
         */
        public Keyed<B, P> partitioned() {
            open("partitioned").partitioned();
            return this;
        }

        /**
         * States the size of the build side. A build side of at most {@code
         * gpu-join.replicate-max-bytes} is replicated, unless the join is right or full.
         *
         * @param bytes from 0
         * @return this builder
         */
        public Keyed<B, P> expectedBytes(long bytes) {
            open("expectedBytes").expectedBytes(bytes);
            return this;
        }

        /**
         * Sets the version number of the build side, to read it again: see {@link
         * Dimension#generation}. Right and full joins cannot read it again, because their state
         * holds which build records had a match.
         *
         * @param generation from 0, the default
         * @return this builder
         * @throws IllegalArgumentException if it is negative
         */
        public Keyed<B, P> buildGeneration(int generation) {
            open("buildGeneration").buildGeneration(generation);
            return this;
        }

        /**
         * Sends unreadable records to a stream: see {@link StarJoin#badRecords}.
         *
         * @param sink receives the stream of bad records
         * @return this builder
         */
        public Keyed<B, P> badRecords(Consumer<DataStream<BadRecord>> sink) {
            open("badRecords").badRecords().user(Objects.requireNonNull(sink, "sink"));
            return this;
        }

        /**
         * Sets the prefix of the uids of the join's operators, by which savepoints find their
         * state; {@code "gpu-join"} by default. Each join of a job needs its own.
         *
         * @param uid prefix of the uids
         * @return this builder
         * @throws IllegalArgumentException if it is blank
         */
        public Keyed<B, P> uid(String uid) {
            return uid(JoinUid.of(Objects.requireNonNull(uid, "uid")));
        }

        Keyed<B, P> uid(JoinUid uid) {
            pipeline.uid(uid);
            return this;
        }

        /**
         * Describes how this join will run, and why: see {@link StarJoin#explain()}.
         *
         * @return the plan, whose {@code toString} is a text for people
         */
        public JoinExplanation explain() {
            return pipeline.explain();
        }

        /**
         * Builds the join, which calls the function for every result.
         *
         * @param <R> results
         * @param function receives the build record first; a record that the kind of join leaves
         *     out is null
         * @return the results
         */
        public <R> SingleOutputStreamOperator<R> apply(JoinFunction<B, P, R> function) {
            Objects.requireNonNull(function, "function");
            return apply(function, pipeline.resultType(function));
        }

        /**
         * Builds the join if Flink cannot extract the type of its results.
         *
         * @param <R> results
         * @param function receives the build record first; a record that the kind of join leaves
         *     out is null
         * @param type type of the results
         * @return the results
         */
        public <R> SingleOutputStreamOperator<R> apply(
                JoinFunction<B, P, R> function, TypeInformation<R> type) {
            return pipeline.apply(
                    Objects.requireNonNull(function, "function"),
                    Objects.requireNonNull(type, "type"));
        }

        private PairJoinPipeline<B, P> open(String method) {
            pipeline.built().requireNotBuilt(method);
            return pipeline;
        }
    }
}
