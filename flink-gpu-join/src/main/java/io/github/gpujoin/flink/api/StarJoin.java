package io.github.gpujoin.flink.api;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.RowView;
import io.github.gpujoin.flink.chunk.BadRecord;
import io.github.gpujoin.flink.explain.JoinExplanation;
import io.github.gpujoin.flink.pipeline.BadRecordStreams;
import io.github.gpujoin.flink.pipeline.DimensionSide;
import io.github.gpujoin.flink.pipeline.Explanations;
import io.github.gpujoin.flink.pipeline.Grouping;
import io.github.gpujoin.flink.pipeline.InputSide;
import io.github.gpujoin.flink.pipeline.StarJoinPipeline;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.stream.Collectors;
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
 *         StarJoin.facts(orders)                      // POJOs, Rows, tuples, RowData, Avro
 *                 .where(o -> o.quantity < 25)        // before anything moves
 *                 .select("revenue")
 *                 .dimension(customers)
 *                 .on("customerId", "id")             // fact column, dimension column
 *                 .where(c -> c.region.equals("ASIA"))
 *                 .select("nation AS customerNation")
 *                 .dimension(days)
 *                 .on("orderDay", "day")
 *                 .select("year")
 *                 .uid("revenue-by-nation")
 *                 .toRows();                          // revenue, customerNation, year
 * }</pre>
 *
 * <p>The dimensions are loaded first, until they end or a watermark says that they are complete;
 * facts that come earlier wait in state. Each fact gives one result for each combination of
 * matches, unless a dimension is {@linkplain Dimension#left() left}, {@linkplain Dimension#semi()
 * semi} or {@linkplain Dimension#anti() anti} joined. A null key matches nothing. Results carry
 * their fact's event timestamp, and watermarks of the facts follow the results.
 *
 * <p>Methods change this builder and return it. Not thread-safe.
 *
 * @param <F> what the facts' filter sees: the record, or {@link RowView} for chunks
 */
public final class StarJoin<F> {

    private static final String DEFAULT_UID = "star-join";

    private final InputSide<F> facts;
    private final List<DimensionSide<?>> dimensions = new ArrayList<>();
    private final BadRecordStreams badRecords = new BadRecordStreams();
    private String uid = DEFAULT_UID;

    private StarJoin(InputSide<F> facts) {
        this.facts = facts;
    }

    /** Facts as POJOs, Rows with a named row type, tuples, RowData or Avro records. */
    public static <F> StarJoin<F> facts(DataStream<F> facts) {
        return new StarJoin<>(InputSide.records("facts", facts));
    }

    /** Facts in columns; the stream's type is a {@code ChunkTypeInfo} of one schema. */
    public static StarJoin<RowView> factChunks(DataStream<Chunk> facts) {
        return new StarJoin<>(InputSide.chunks("facts", facts));
    }

    /** Keeps only some facts; evaluated next to the source, before anything moves. */
    public StarJoin<F> where(FilterFunction<F> filter) {
        facts.where(filter);
        return this;
    }

    /**
     * Keeps only facts whose column compares so; with other predicates, those that all keep.
     * Evaluated by the engine that joins: nothing is copied before, and no row becomes an object. A
     * {@link #where(FilterFunction)} is evaluated first, next to the source: there, records that
     * few are kept of are better filtered.
     */
    public StarJoin<F> where(ColumnPredicate predicate) {
        facts.where(predicate.column(), predicate.values());
        return this;
    }

    /**
     * Columns of the facts in the result, as {@code "column"} or {@code "column AS name"}. Without
     * this call, none.
     */
    public StarJoin<F> select(String... columns) {
        facts.select(columns);
        return this;
    }

    /** Adds a dimension of POJOs, Rows with a named row type, tuples, RowData or Avro records. */
    public <D> Dimension<F, D> dimension(DataStream<D> dimension) {
        return add(new DimensionSide<>(InputSide.records(nextName(), dimension)));
    }

    /** Adds a dimension in columns; the stream's type is a {@code ChunkTypeInfo} of one schema. */
    public Dimension<F, RowView> dimensionChunks(DataStream<Chunk> dimension) {
        return add(new DimensionSide<>(InputSide.chunks(nextName(), dimension)));
    }

    private String nextName() {
        return "dimension-" + dimensions.size();
    }

    private <D> Dimension<F, D> add(DimensionSide<D> side) {
        dimensions.add(side);
        return new Dimension<>(this, side);
    }

    /**
     * Prefix of the uids of the join's operators, under which savepoints find their state. Two
     * joins of one job need two.
     */
    public StarJoin<F> uid(String uid) {
        this.uid = uid;
        return this;
    }

    /**
     * Gives records that cannot be read to a stream of their own, with the reason, rather than
     * failing the job: those of any side whose filter or key throws, or whose fields do not hold
     * what their types say. Counted by the metric {@code badRecords} of the side's packer.
     *
     * @param sink is given the stream when the join is made, and does something with it
     */
    public StarJoin<F> badRecords(Consumer<DataStream<BadRecord>> sink) {
        badRecords.user(sink);
        return this;
    }

    /**
     * Facts that have waited for longer than this when the dimensions are complete are dropped, and
     * counted by the metric {@code expiredFacts}; in processing time from their arrival on, or from
     * a restart on. Without this call they wait as long as it takes.
     */
    public StarJoin<F> ttl(Duration ttl) {
        facts.ttl(Objects.requireNonNull(ttl, "ttl"));
        return this;
    }

    /**
     * Side output of facts that came behind the watermark, where a dimension is {@linkplain
     * Dimension#versioned() versioned}: keys and columns in use, and {@code $timestamp}. To be
     * asked for when the join is described, and given to {@code getSideOutput} of its results.
     */
    public OutputTag<Row> lateFacts() {
        return pipeline().lateFacts();
    }

    /** As {@link #lateFacts}, of versions; a Row's kind says whether it is a deletion. */
    public OutputTag<Row> lateVersions() {
        return pipeline().lateVersions();
    }

    /** Results as Rows with named fields: the facts' columns, then each dimension's. */
    public SingleOutputStreamOperator<Row> toRows() {
        return pipeline().toRows();
    }

    /**
     * Results as POJOs, matched by name.
     *
     * @throws IllegalArgumentException where a result column has no field of its name and type
     */
    public <R> SingleOutputStreamOperator<R> toPojos(Class<R> type) {
        return toRecords(TypeInformation.of(type));
    }

    /**
     * Results as records with named fields, matched by name: POJOs, RowData ({@code
     * InternalTypeInfo.of(rowType)}), generic Avro records ({@code new
     * GenericRecordAvroTypeInfo(schema)}) or specific ones ({@code new AvroTypeInfo<>(class)}).
     * Fields of RowData that no column fills are null, those of Avro records have their default.
     *
     * @throws IllegalArgumentException where a result column has no field of its name and type
     */
    public <R> SingleOutputStreamOperator<R> toRecords(TypeInformation<R> type) {
        return pipeline().toRecords(type);
    }

    /** Results in columns: the facts' columns, then each dimension's. */
    public SingleOutputStreamOperator<Chunk> toChunks() {
        return pipeline().toChunks();
    }

    /**
     * Counts and sums of groups of results, in place of results; nothing is selected then.
     *
     * @param columns of facts or dimensions, as {@code "column"} or {@code "column AS name"}, at
     *     most 4; without any, all results are one group
     */
    public GroupedJoin groupBy(String... columns) {
        return new GroupedJoin(
                new Grouping(columns),
                grouping -> new StarJoinPipeline(uid, facts, dimensions, grouping, badRecords));
    }

    /**
     * How the join will be run, and why so: which dimensions are replicated or partitioned, which
     * engine joins and how chunks travel, as far as that is known before the run. Subtasks log the
     * rest when their tables are there. For people; the text may change.
     */
    public String explain() {
        return pipeline().explain().toString();
    }

    /**
     * As {@link #explain()}, of all joins that were added to the environment since it ran its last
     * job.
     */
    public static String explain(StreamExecutionEnvironment env) {
        return Explanations.of(env).stream()
                .map(JoinExplanation::toString)
                .collect(Collectors.joining("\n"));
    }

    private StarJoinPipeline pipeline() {
        return new StarJoinPipeline(uid, facts, dimensions, null, badRecords);
    }
}
