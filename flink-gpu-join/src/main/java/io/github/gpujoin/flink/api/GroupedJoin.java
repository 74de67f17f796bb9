package io.github.gpujoin.flink.api;

import io.github.gpujoin.flink.pipeline.Grouping;
import io.github.gpujoin.flink.pipeline.StarJoinPipeline;
import java.util.function.Function;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.types.Row;

/**
 * Counts and sums of a {@link StarJoin}'s results by group, added up where they are joined: no row
 * of a result is ever made.
 *
 * <p>Columns are ints, longs, shorts or bytes that cannot be null, of the facts or of dimensions
 * that are inner-joined. Where two sides have a column of one name, {@code "side.column"} says
 * which. Sums are of 64 bits and wrap around.
 *
 * <p>Each subtask holds some ten thousand groups; where there are more it sends them on and starts
 * anew. Grouping pays where a group takes many facts.
 *
 * <p>Methods change this builder and return it. Not thread-safe.
 */
public final class GroupedJoin {

    private final Grouping grouping;
    private final Function<Grouping, StarJoinPipeline> join;

    GroupedJoin(Grouping grouping, Function<Grouping, StarJoinPipeline> join) {
        this.grouping = grouping;
        this.join = join;
    }

    /** Adds the number of results of the group. */
    public GroupedJoin count(String name) {
        grouping.sum(name);
        return this;
    }

    /** Adds the sum of a column. */
    public GroupedJoin sum(String column, String name) {
        grouping.sum(name, column);
        return this;
    }

    /** Adds the sum of the product of two columns. */
    public GroupedJoin sumOfProduct(String first, String second, String name) {
        grouping.sum(name, first, second);
        return this;
    }

    /** As {@link StarJoin#explain()}. */
    public String explain() {
        return join.apply(grouping).explain().toString();
    }

    /**
     * Each group once, at the end of the facts: for bounded ones. The group's columns, then its
     * counts and sums, longs. No results give no group, not even one of no columns.
     */
    public SingleOutputStreamOperator<Row> toRows() {
        return join.apply(grouping).toGroups();
    }

    /**
     * Parts of groups as they come, with the fields of {@link #toRows}: to be added up by the
     * group's columns. For facts without end. Each fact is in one part, exactly once; parts have no
     * event timestamp, and come before the watermark and the barrier that follow their facts.
     */
    public SingleOutputStreamOperator<Row> toPartialRows() {
        return join.apply(grouping).toPartialGroups();
    }
}
