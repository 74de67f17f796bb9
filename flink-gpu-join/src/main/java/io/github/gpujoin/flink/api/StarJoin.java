// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import io.github.gpujoin.core.encoding.EncodedChunk;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.RowView;
import io.github.gpujoin.flink.api.data.BadRecord;
import io.github.gpujoin.flink.api.explain.JoinExplanation;
import io.github.gpujoin.flink.api.source.ColumnarSource;
import io.github.gpujoin.flink.emit.ResultPojoType;
import io.github.gpujoin.flink.plan.BadRecordStreams;
import io.github.gpujoin.flink.plan.DimensionInput;
import io.github.gpujoin.flink.plan.Explanations;
import io.github.gpujoin.flink.plan.Grouping;
import io.github.gpujoin.flink.plan.JoinInput;
import io.github.gpujoin.flink.plan.JoinUid;
import io.github.gpujoin.flink.plan.StarPipeline;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.api.common.functions.FilterFunction;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.types.Row;
import org.apache.flink.util.OutputTag;

/**
 * Joins a stream of facts with dimensions, all in one operator.
 *
 * <pre>{@code
 * DataStream<Row> enriched =
 *         StarJoin.of(orders)                              // POJOs, Rows, tuples, RowData, Avro
 *                 .where(o -> o.quantity < 25)             // runs next to the source of the facts
 *                 .select("revenue")
 *                 .dimension(
 *                         customers,
 *                         d -> d.on("customerId", "id")    // fact column, dimension column
 *                                 .where(c -> "ASIA".equals(c.region))
 *                                 .select("nation AS customerNation"))
 *                 .dimension(days, d -> d.on("orderDay", "day").select("year"))
 *                 .uid("revenue-by-nation")
 *                 .toRows();                               // revenue, customerNation, year
 * }</pre>
 *
 * <p>The join loads the dimensions first, until each ends or its watermark declares it complete.
 * Facts that arrive earlier wait in state. Each fact yields one result for each combination of
 * matches, unless a dimension is joined {@linkplain Dimension#left() left}, {@linkplain
 * Dimension#semi() semi} or {@linkplain Dimension#anti() anti}. A null key matches nothing. A
 * result carries the event timestamp of its fact. Watermarks of the facts follow their results.
 *
 * <p>A record passes the methods from top to bottom: {@link #where}, {@link #select}, {@link
 * #dimension}, then one of {@link #toRows}, {@link #toPojos}, {@link #toRecords}, {@link
 * #toChunks}, {@link #groupBy}. The order of calls does not matter, except that dimensions keep the
 * order in which they were added. In batch mode, all inputs are bounded, and dimensions do not
 * change. Methods other than {@code to...} change this builder and return it. After one of {@code
 * to...}, they throw {@link IllegalStateException}, except {@link #uid}. Not thread-safe.
 *
 * @param <F> the facts as filters see them: records, or {@link RowView} for chunks
 */
@PublicEvolving
public final class StarJoin<F> {

    private static final JoinUid DEFAULT_UID = JoinUid.of("star-join");

    private final JoinInput<F> facts;
    private final List<DimensionInput<?>> dimensions = new ArrayList<>();
    private final BadRecordStreams badRecords = new BadRecordStreams();
    private JoinUid uid = DEFAULT_UID;
    private boolean isTagged;

    private StarJoin(JoinInput<F> facts) {
        this.facts = facts;
    }

    /**
     * Starts a join of facts that are records.
     *
     * @param <F> facts
     * @param facts POJOs, Rows with a named row type, tuples, RowData or Avro records
     * @return a join to be described
     * @throws IllegalArgumentException if the stream consists of chunks
     */
    public static <F> StarJoin<F> of(DataStream<F> facts) {
        return new StarJoin<>(JoinInput.records("facts", Objects.requireNonNull(facts, "facts")));
    }

    /**
     * Starts a join of facts in columnar chunks.
     *
     * @param facts a stream whose type is a {@code ChunkTypeInfo} of one schema
     * @return a join to be described
     * @throws IllegalArgumentException if the stream has another type
     */
    public static StarJoin<RowView> ofChunks(DataStream<Chunk> facts) {
        return new StarJoin<>(JoinInput.chunks("facts", Objects.requireNonNull(facts, "facts")));
    }

    /**
     * Starts a join of facts in files. The join is the only reader of the source, so conditions
     * reach it: {@linkplain #where(ColumnPredicate) predicates} of columns, and the keys of
     * complete dimensions. The format decides which rows, pages and row groups they skip.
     *
     * @param env of the job
     * @param facts the files
     * @param sourceUid uid of the source, and its name
     * @return the join
     */
    public static StarJoin<RowView> ofSource(
            StreamExecutionEnvironment env, ColumnarSource facts, String sourceUid) {
        Objects.requireNonNull(env, "env");
        Objects.requireNonNull(facts, "facts");
        Objects.requireNonNull(sourceUid, "sourceUid");
        return new StarJoin<>(JoinInput.source("facts", env, facts, sourceUid));
    }

    /**
     * Keeps only facts that the filter accepts. It runs next to the source, before facts are packed
     * and sent. A second call replaces the filter.
     *
     * @param filter returns whether a row is joined
     * @return this builder
     */
    public StarJoin<F> where(FilterFunction<F> filter) {
        open("where").where(Objects.requireNonNull(filter, "filter"));
        return this;
    }

    /**
     * Keeps only facts whose column satisfies the predicate, and all predicates of earlier calls.
     *
     * <p>A source of {@link #ofSource} may evaluate predicates while it reads. For other facts, the
     * engine evaluates them column by column, after facts were packed and sent, and creates no
     * object for a row; use a {@link #where(FilterFunction) FilterFunction} there if few facts
     * pass.
     *
     * @param predicate condition on a column of the facts
     * @return this builder
     */
    public StarJoin<F> where(ColumnPredicate predicate) {
        Objects.requireNonNull(predicate, "predicate");
        open("where").where(predicate.column(), predicate.values());
        return this;
    }

    /**
     * Selects columns of the facts for the result; without this call, none. A second call replaces
     * the selection.
     *
     * @param columns each {@code "column"} or {@code "column AS name"}
     * @return this builder
     */
    public StarJoin<F> select(String... columns) {
        open("select").select(Arguments.requireNoNull(columns, "columns"));
        return this;
    }

    /**
     * Adds a dimension of records.
     *
     * @param <D> dimension rows
     * @param dimension POJOs, Rows with a named row type, tuples, RowData or Avro records
     * @param description configures the dimension, at least its key: {@link Dimension#on}; called
     *     once, before this method returns
     * @return this builder
     * @throws IllegalArgumentException if the stream consists of chunks
     */
    public <D> StarJoin<F> dimension(DataStream<D> dimension, Consumer<Dimension<D>> description) {
        Objects.requireNonNull(dimension, "dimension");
        facts.built().requireNotBuilt("dimension");
        return add(JoinInput.records(nextName(), dimension), description);
    }

    /**
     * Adds a dimension of columnar chunks.
     *
     * @param dimension a stream whose type is a {@code ChunkTypeInfo} of one schema
     * @param description configures the dimension, at least its key: {@link Dimension#on}; called
     *     once, before this method returns
     * @return this builder
     * @throws IllegalArgumentException if the stream has another type
     */
    public StarJoin<F> dimensionChunks(
            DataStream<Chunk> dimension, Consumer<Dimension<RowView>> description) {
        Objects.requireNonNull(dimension, "dimension");
        facts.built().requireNotBuilt("dimensionChunks");
        return add(JoinInput.chunks(nextName(), dimension), description);
    }

    private String nextName() {
        return "dimension-" + dimensions.size();
    }

    private <D> StarJoin<F> add(JoinInput<D> input, Consumer<Dimension<D>> description) {
        Objects.requireNonNull(description, "description");
        DimensionInput<D> side = new DimensionInput<>(input);
        description.accept(new Dimension<>(side));
        dimensions.add(side);
        return this;
    }

    /**
     * Drops facts that have waited longer than this when the dimensions are complete. The metric
     * {@code expiredFacts} counts them. Without this call, facts wait without limit.
     *
     * @param ttl processing time from the arrival of a fact, or from a restart; positive, at most
     *     10,000 years
     * @return this builder
     * @throws IllegalArgumentException if the time is out of range
     */
    public StarJoin<F> ttl(Duration ttl) {
        open("ttl").ttl(Objects.requireNonNull(ttl, "ttl"));
        return this;
    }

    /**
     * Sends unreadable records of all inputs to a stream, with the reason, instead of failing the
     * job. A record is unreadable if its filter or key throws, or if a field contradicts its type.
     * The metric {@code badRecords} of each packer counts them.
     *
     * @param sink receives the stream when the join is built, and consumes it
     * @return this builder
     */
    public StarJoin<F> badRecords(Consumer<DataStream<BadRecord>> sink) {
        Objects.requireNonNull(sink, "sink");
        facts.built().requireNotBuilt("badRecords");
        badRecords.user(sink);
        return this;
    }

    /**
     * Sets the prefix of the uids of the join's operators, by which savepoints find their state;
     * {@code "star-join"} by default. Each join of a job needs its own.
     *
     * @param uid prefix of the uids
     * @return this builder
     * @throws IllegalArgumentException if it is blank
     * @throws IllegalStateException after {@link #lateFacts} or {@link #lateVersions}, whose tags
     *     contain the prefix
     */
    public StarJoin<F> uid(String uid) {
        JoinUid changed = JoinUid.of(Objects.requireNonNull(uid, "uid"));
        if (isTagged && !changed.text().equals(this.uid.text())) {
            throw new IllegalStateException(
                    "Join '%s' has side outputs under its uid: new uid=%s. Call .uid(...) before .lateFacts() and .lateVersions()."
                            .formatted(this.uid.text(), uid));
        }
        return uid(changed);
    }

    StarJoin<F> uid(JoinUid uid) {
        this.uid = uid;
        return this;
    }

    /**
     * Returns the side output of facts behind the watermark, for {@code getSideOutput} of the
     * results. Only joins with a {@linkplain Dimension#versioned() versioned} dimension have such
     * facts. A row holds the selected columns, the column of a key of one integer, and {@code
     * $timestamp}.
     *
     * @return the tag of the side output
     */
    public OutputTag<Row> lateFacts() {
        OutputTag<Row> tag = pipeline().lateFacts();
        isTagged = true;
        return tag;
    }

    /**
     * Returns the side output of versions behind the watermark, as {@link #lateFacts} does for
     * facts. The kind of a row distinguishes a deletion.
     *
     * @return the tag of the side output
     * @throws IllegalStateException if no dimension is versioned
     */
    public OutputTag<Row> lateVersions() {
        OutputTag<Row> tag = pipeline().lateVersions();
        isTagged = true;
        return tag;
    }

    /**
     * Counts and sums results by group, instead of emitting them. Selected columns are ignored.
     *
     * @param columns of facts or dimensions, each {@code "column"} or {@code "column AS name"}; at
     *     most 4, and none for a single group
     * @return a grouped join to be described
     */
    public GroupedJoin groupBy(String... columns) {
        return new GroupedJoin(
                new Grouping(Arguments.requireNoNull(columns, "columns")),
                grouping -> StarPipeline.of(uid, facts, dimensions, grouping, badRecords));
    }

    /**
     * Describes how this join will run, and why: which dimensions are replicated or partitioned,
     * which engine joins, and how chunks travel. Subtasks log what only the run decides.
     *
     * @return the plan, whose {@code toString} is a text for people
     */
    public JoinExplanation explain() {
        return pipeline().explain();
    }

    /**
     * Describes all joins that were added to the environment since it ran its last job, as {@link
     * #explain()} does.
     *
     * @param env environment of the job
     * @return the plans, in the order of their joins
     */
    public static List<JoinExplanation> explain(StreamExecutionEnvironment env) {
        return Explanations.of(Objects.requireNonNull(env, "env"));
    }

    /**
     * Builds the join; results are Rows with named fields: the facts' columns, then each
     * dimension's.
     *
     * @return the results
     */
    public SingleOutputStreamOperator<Row> toRows() {
        return pipeline().toRows();
    }

    /**
     * Builds the join; results are POJOs, whose fields match result columns by name.
     *
     * @param <R> results
     * @param type type of the results
     * @return the results
     * @throws IllegalArgumentException if a result column has no field of its name and type
     */
    public <R> SingleOutputStreamOperator<R> toPojos(Class<R> type) {
        return toRecords(ResultPojoType.of(Objects.requireNonNull(type, "type")));
    }

    /**
     * Builds the join; results are records, whose fields match result columns by name. A field of
     * RowData that no column fills is null. A field of an Avro record gets its default.
     *
     * @param <R> results
     * @param type POJOs, RowData ({@code InternalTypeInfo.of(rowType)}), generic Avro records
     *     ({@code new GenericRecordAvroTypeInfo(schema)}) or specific ones ({@code new
     *     AvroTypeInfo<>(class)})
     * @return the results
     * @throws IllegalArgumentException if a result column has no field of its name and type
     */
    public <R> SingleOutputStreamOperator<R> toRecords(TypeInformation<R> type) {
        Objects.requireNonNull(type, "type");
        return pipeline().toRecords(type);
    }

    /**
     * Builds the join; results are columnar chunks: the facts' columns, then each dimension's.
     *
     * @return the results
     */
    public SingleOutputStreamOperator<Chunk> toChunks() {
        return pipeline().toChunks(false);
    }

    /**
     * Does the same as {@link #toChunks}, but columns stay encoded where they are: those of encoded
     * facts, and results that a GPU packed. Such a chunk is an {@link EncodedChunk}; the others,
     * and all of the CPU engine, have plain columns. For consumers that write or send chunks, or
     * read few of their columns.
     *
     * @return the results
     */
    public SingleOutputStreamOperator<Chunk> toEncodedChunks() {
        return pipeline().toChunks(true);
    }

    private JoinInput<F> open(String method) {
        facts.built().requireNotBuilt(method);
        return facts;
    }

    private StarPipeline pipeline() {
        return StarPipeline.of(uid, facts, dimensions, null, badRecords);
    }
}
