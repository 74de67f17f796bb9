// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.plan;

import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.flink.api.explain.Distribution;
import io.github.gpujoin.flink.api.explain.PartitionClass;
import io.github.gpujoin.flink.api.explain.ReasonCode;
import io.github.gpujoin.flink.record.KeyLayout.Nulls;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.types.Row;
import org.jspecify.annotations.Nullable;

/** A dimension as the user described it. Mutable; used while the job graph is built. */
public final class DimensionInput<R> {

    private final JoinInput<R> input;
    private final List<String> factColumns = new ArrayList<>();
    private final List<String> columns = new ArrayList<>();
    private Nulls nulls = Nulls.MATCH_NOTHING;
    private JoinKind kind = JoinKind.INNER;
    private @Nullable Distribution distribution;
    private long expectedBytes = PartitionClass.UNKNOWN;
    private @Nullable Long completeAtWatermark;
    private boolean versioned;
    private boolean joinsLateRows;
    private @Nullable Consumer<DataStream<Row>> lateRows;
    private boolean joined;

    public DimensionInput(JoinInput<R> input) {
        this.input = input;
    }

    public JoinInput<R> input() {
        return input;
    }

    /** Marks the dimension as part of a join that was built. */
    void markJoined() {
        joined = true;
    }

    /**
     * @throws IllegalStateException if the join was built, which a later change would not reach
     */
    public void requireNotJoined() {
        if (joined) {
            throw new IllegalStateException(
                    "Dimension '%s' was changed after its join was built. Configure it inside .dimension(...)."
                            .formatted(input.name()));
        }
    }

    /** Adds a pair of columns to the join key. */
    public void on(String factColumn, String dimensionColumn) {
        factColumns.add(factColumn);
        columns.add(dimensionColumn);
    }

    public void nulls(Nulls nulls) {
        this.nulls = nulls;
    }

    Nulls nulls() {
        return nulls;
    }

    public void kind(JoinKind kind) {
        this.kind = kind;
    }

    public void distribution(Distribution distribution) {
        this.distribution = distribution;
    }

    public void expectedBytes(long bytes) {
        if (bytes < 0) {
            throw new IllegalArgumentException(
                    "Negative size of dimension '%s': expectedBytes=%d. Use 0 or more."
                            .formatted(input.name(), bytes));
        }
        this.expectedBytes = bytes;
    }

    /**
     * Returns the time to live of a row after its last change, or null if rows do not expire.
     *
     * @throws IllegalArgumentException if the dimension is versioned or no changelog
     */
    @Nullable Duration ttl() {
        Duration ttl = input.ttl();
        if (ttl != null && (!input.isChangelog() || versioned)) {
            throw new IllegalArgumentException(
                    "Time to live on dimension '%s' that is %s: ttl=%s. Use .changelog() without .versioned(), or remove .ttl(...)."
                            .formatted(
                                    input.name(), versioned ? "versioned" : "no changelog", ttl));
        }
        return ttl;
    }

    /** Joins each fact with the version of its event time. */
    public void versioned() {
        versioned = true;
        if (!input.isChangelog()) {
            input.changelogOrInserted();
        }
    }

    /** Joins late facts and versions too. */
    public void joinLateRows() {
        joinsLateRows = true;
    }

    /**
     * Whether late facts and versions are joined.
     *
     * @throws IllegalArgumentException if they are to be joined, but the dimension is not versioned
     */
    boolean joinsLateRows() {
        if (joinsLateRows && !versioned) {
            throw new IllegalArgumentException(
                    "Dimension '%s' joins late rows, but is not versioned. Add .versioned(), or remove .joinLateRows()."
                            .formatted(input.name()));
        }
        return joinsLateRows;
    }

    boolean isVersioned() {
        return versioned;
    }

    public void completeAtWatermark(long watermark) {
        this.completeAtWatermark = watermark;
    }

    /**
     * Returns how often the dimension is read again; 0 if once only.
     *
     * @throws IllegalArgumentException if facts would be joined with only some of the rows that are
     *     read again
     */
    int generation() {
        int generation = input.generation();
        if (generation > 0 && (versioned || input.isChangelog() && completeAtWatermark == null)) {
            String remedy = versioned ? "" : ", or add .completeAtWatermark(t)";
            throw new IllegalArgumentException(
                    "Dimension '%s' is %s, so facts would not wait until it is read again. Remove .generation(%d)%s."
                            .formatted(
                                    input.name(),
                                    versioned ? "versioned" : "changing",
                                    generation,
                                    remedy));
        }
        return generation;
    }

    /** Sets the consumer of the stream of late rows. */
    public void lateRows(Consumer<DataStream<Row>> sink) {
        lateRows = sink;
    }

    /**
     * Returns the consumer of the stream of late rows, or null if there is none.
     *
     * @throws IllegalArgumentException if the dimension has a consumer but cannot have late rows
     */
    @Nullable Consumer<DataStream<Row>> lateRows() {
        if (lateRows != null && input.isChangelog()) {
            throw new IllegalArgumentException(
                    "Dimension '%s' changes, so its rows are never late. Remove .lateRows(...)."
                            .formatted(input.name()));
        }
        return lateRows;
    }

    /**
     * Returns what the dimension has that needs rows in the order of time, or results before the
     * end of the inputs; null if it has nothing of that kind.
     */
    @Nullable String streamingFeature() {
        if (versioned) {
            return "versioned dimension";
        }
        if (input.isChangelog()) {
            return "changelog";
        }
        if (lateRows != null) {
            return "late rows";
        }
        return completeAtWatermark == null || completeAtWatermark == Long.MAX_VALUE
                ? null
                : "dimension that is complete at a watermark";
    }

    /** Returns the key columns of the facts, in the order of {@link #columns}. */
    List<String> factColumns() {
        return factColumns;
    }

    /**
     * Returns the key columns of the dimension.
     *
     * @throws IllegalArgumentException if there are none
     */
    List<String> columns() {
        if (columns.isEmpty()) {
            throw new IllegalArgumentException(
                    "No join key: dimension=%s. Add .on(factColumn, dimensionColumn)."
                            .formatted(input.name()));
        }
        return columns;
    }

    JoinKind kind() {
        if (!kind.keepsPayload() && !input.selections().isEmpty()) {
            throw new IllegalArgumentException(
                    "Columns selected from semi- or anti-joined dimension '%s': %s. Remove .select(...), or use an inner or left join."
                            .formatted(
                                    input.name(),
                                    input.selections().stream().map(Selection::column).toList()));
        }
        return kind;
    }

    /**
     * Returns the watermark at which the dimension is complete. Without one, a changelog is
     * complete from the start, and another dimension at its end.
     *
     * @throws IllegalArgumentException if the dimension is complete at its end, but unbounded
     */
    long completeAtWatermark() {
        if (completeAtWatermark != null) {
            return completeAtWatermark;
        }
        if (input.isChangelog()) {
            return LoadMarkOperator.FROM_THE_START;
        }
        BoundedInput.requireForLoad(
                input.name(),
                input.stream(),
                "Use a bounded source, .completeAtWatermark(t), .changelog() or .versioned().");
        return LoadMarkOperator.AT_THE_END;
    }

    boolean isPartitioned(long replicateMaxBytes) {
        if (versioned && distribution == Distribution.REPLICATED) {
            throw new IllegalArgumentException(
                    "Versioned dimension '%s' cannot be replicated. Remove .replicated()."
                            .formatted(input.name()));
        }
        if (versioned) {
            return true;
        }
        if (distribution != null) {
            return distribution == Distribution.PARTITIONED;
        }
        return expectedBytes > replicateMaxBytes;
    }

    /**
     * Whether the measured size may choose the distribution, because the job determines neither.
     */
    boolean isMeasurable(long replicateMaxBytes) {
        return !isDistributionFixed() && !input.isChangelog() && !isPartitioned(replicateMaxBytes);
    }

    /**
     * Returns the reason for the distribution.
     *
     * @param partitioned whether the dimension is the partitioned one
     */
    ReasonCode distributionReason(boolean partitioned, long replicateMaxBytes) {
        if (partitioned != isPartitioned(replicateMaxBytes)) {
            return ReasonCode.OTHER_DIMENSION_PARTITIONED;
        }
        if (versioned) {
            return ReasonCode.VERSIONED;
        }
        if (distribution != null) {
            return ReasonCode.ASKED;
        }
        if (expectedBytes == PartitionClass.UNKNOWN) {
            return input.isChangelog() ? ReasonCode.CHANGELOG : ReasonCode.SIZE_UNKNOWN;
        }
        return partitioned ? ReasonCode.OVER_LIMIT : ReasonCode.WITHIN_LIMIT;
    }

    /**
     * Whether this dimension is expected to be larger than another one. An unknown size counts as
     * the largest.
     */
    boolean isExpectedLargerThan(DimensionInput<?> other) {
        return other.expectedBytes != PartitionClass.UNKNOWN
                && (expectedBytes == PartitionClass.UNKNOWN || expectedBytes > other.expectedBytes);
    }

    long expectedBytes() {
        return expectedBytes;
    }

    boolean isDistributionFixed() {
        return versioned || distribution != null;
    }
}
