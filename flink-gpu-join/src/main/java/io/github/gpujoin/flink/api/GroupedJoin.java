// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import io.github.gpujoin.flink.api.explain.JoinExplanation;
import io.github.gpujoin.flink.plan.Grouping;
import io.github.gpujoin.flink.plan.StarPipeline;
import java.util.Objects;
import java.util.function.Function;
import org.apache.flink.annotation.Experimental;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.types.Row;

/**
 * Counts and sums results of a {@link StarJoin} by group, where they are joined: no result row is
 * created.
 *
 * <p>Columns must be ints, longs, shorts or bytes that cannot be null, of the facts or of
 * inner-joined dimensions. A group column of a dimension may also be text; a null text is a group
 * of its own. If two inputs share a column name, write {@code "input.column"}. Sums have 64 bits
 * and wrap around on overflow.
 *
 * <p>Each subtask holds up to 65,536 groups. When it is full, it emits them and starts anew, so
 * grouping pays if many facts share a group.
 *
 * <p>Methods other than {@code to...} change this builder and return it. After one of {@code
 * to...}, they throw {@link IllegalStateException}. Not thread-safe.
 */
@Experimental
public final class GroupedJoin {

    private final Grouping grouping;
    private final Function<Grouping, StarPipeline> join;

    GroupedJoin(Grouping grouping, Function<Grouping, StarPipeline> join) {
        this.grouping = grouping;
        this.join = join;
    }

    /**
     * Adds the number of results of each group.
     *
     * @param name of the count in the result
     * @return this builder
     */
    public GroupedJoin count(String name) {
        open("count").sum(Objects.requireNonNull(name, "name"));
        return this;
    }

    /**
     * Adds the sum of a column over each group.
     *
     * @param column column to add up
     * @param name of the sum in the result
     * @return this builder
     */
    public GroupedJoin sum(String column, String name) {
        open("sum")
                .sum(
                        Objects.requireNonNull(name, "name"),
                        Objects.requireNonNull(column, "column"));
        return this;
    }

    /**
     * Adds the sum of the product of two columns over each group.
     *
     * @param first one factor
     * @param second the other factor
     * @param name of the sum in the result
     * @return this builder
     */
    public GroupedJoin sumOfProduct(String first, String second, String name) {
        open("sumOfProduct")
                .sum(
                        Objects.requireNonNull(name, "name"),
                        Objects.requireNonNull(first, "first"),
                        Objects.requireNonNull(second, "second"));
        return this;
    }

    /**
     * Describes how this join will run, and why: see {@link StarJoin#explain()}.
     *
     * @return the plan, whose {@code toString} is a text for people
     */
    public JoinExplanation explain() {
        return join.apply(grouping).explain();
    }

    /**
     * Builds the join; results are whole groups, emitted once at the end of the facts, which must
     * be bounded. A row has the group's columns, followed by its counts and sums as longs. A join
     * without results emits no row, also without group columns.
     *
     * @return the results
     */
    public SingleOutputStreamOperator<Row> toRows() {
        return join.apply(grouping).toGroups();
    }

    /**
     * Builds the join; results are parts of groups, with the fields of {@link #toRows}, for facts
     * without end. Add up the parts of each group. Each fact counts in exactly one part. Parts have
     * no event timestamp. A part is emitted before the next watermark or barrier that follows one
     * of its facts.
     *
     * @return the results
     */
    public SingleOutputStreamOperator<Row> toPartialRows() {
        return join.apply(grouping).toPartialGroups();
    }

    private Grouping open(String method) {
        grouping.built().requireNotBuilt(method);
        return grouping;
    }
}
