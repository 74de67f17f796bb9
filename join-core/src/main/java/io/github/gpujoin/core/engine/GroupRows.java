// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.engine;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The groups of one {@link JoinEngine#drainGroups()}, each once, in no particular order.
 *
 * <p>A later drain may contain the same groups again; aggregates of a group add up over drains.
 * Immutable. Indexes are from 0 and not checked.
 */
public final class GroupRows {

    private final Aggregation aggregation;
    private final int rowCount;
    private final long[] values;

    /** Texts of codes; null in the groups of an engine. */
    private final @Nullable TextDictionary texts;

    /**
     * @param values group after group: the columns of a group, then its aggregates, {@link
     *     Aggregation#groupWidth()} values each. Owned by this object from now on.
     */
    public GroupRows(Aggregation aggregation, long[] values) {
        this(aggregation, values, null);
    }

    private GroupRows(Aggregation aggregation, long[] values, @Nullable TextDictionary texts) {
        this.aggregation = aggregation;
        this.rowCount = values.length / aggregation.groupWidth();
        this.values = values;
        this.texts = texts;
    }

    /** Returns these groups with the texts of their codes. */
    GroupRows withTexts(TextDictionary dictionary) {
        return new GroupRows(aggregation, values, dictionary);
    }

    public int rowCount() {
        return rowCount;
    }

    /** Returns the value of a group column, widened to 64 bits. */
    public long groupValue(int row, int groupColumn) {
        return values[row * aggregation.groupWidth() + groupColumn];
    }

    /**
     * Returns the text of a group column whose values are {@linkplain GroupCodes codes}; null if
     * the group's text is null.
     */
    public @Nullable String groupText(int row, int groupColumn) {
        return Objects.requireNonNull(texts, "groups are not decoded")
                .text(groupValue(row, groupColumn));
    }

    /** Returns an aggregate of a group. */
    public long aggregate(int row, int aggregate) {
        return groupValue(row, aggregation.groupColumns().size() + aggregate);
    }
}
