package io.github.gpujoin.core.engine;

/** Groups that an engine gave away, each once, in no order. Immutable. */
public final class GroupRows {

    private final Aggregation aggregation;
    private final int rowCount;
    private final long[] values;

    /**
     * @param values of group after group: its columns, then its aggregates; not to be written again
     */
    public GroupRows(Aggregation aggregation, long[] values) {
        this.aggregation = aggregation;
        this.rowCount = values.length / aggregation.groupWidth();
        this.values = values;
    }

    public int rowCount() {
        return rowCount;
    }

    /** Value of the group column, widened to 64 bits. */
    public long groupValue(int row, int groupColumn) {
        return values[row * aggregation.groupWidth() + groupColumn];
    }

    public long aggregate(int row, int aggregate) {
        return groupValue(row, aggregation.groupColumns().size() + aggregate);
    }
}
