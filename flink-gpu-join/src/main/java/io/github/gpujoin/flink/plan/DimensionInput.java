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

/** A dimension as the user described it. Mutable; used while the job graph is made. */
public final class DimensionInput<R> {

    private final JoinInput<R> input;
    private final List<String> factColumns = new ArrayList<>();
    private final List<String> columns = new ArrayList<>();
    private Nulls nulls = Nulls.MATCH_NOTHING;
    private JoinKind kind = JoinKind.INNER;
    private Distribution distribution;
    private long expectedBytes = PartitionClass.UNKNOWN;
    private Long completeAtWatermark;
    private boolean versioned;
    private Consumer<DataStream<Row>> lateRows;

    public DimensionInput(JoinInput<R> input) {
        this.input = input;
    }

    public JoinInput<R> input() {
        return input;
    }

    /** Adds columns that must be equal. */
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
                    "a dimension's size is not negative: dimension="
                            + input.name()
                            + ", expectedBytes="
                            + bytes);
        }
        this.expectedBytes = bytes;
    }

    /**
     * How long a row lives after its last change; null for ever.
     *
     * @throws IllegalArgumentException where rows do not live until they are changed
     */
    Duration ttl() {
        Duration ttl = input.ttl();
        if (ttl != null && (!input.isChangelog() || versioned)) {
            throw new IllegalArgumentException(
                    "a time to live is of a dimension that is changing and not versioned: dimension="
                            + input.name()
                            + ", ttl="
                            + ttl);
        }
        return ttl;
    }

    /** Each fact sees the version of its event time. */
    public void versioned() {
        versioned = true;
        if (!input.isChangelog()) {
            input.changelogOrInserted();
        }
    }

    boolean isVersioned() {
        return versioned;
    }

    public void completeAtWatermark(long watermark) {
        this.completeAtWatermark = watermark;
    }

    /**
     * How often the dimension is read again; 0 for once.
     *
     * @throws IllegalArgumentException if facts would be joined with a part of its rows
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

    /** Gives late rows to a stream of their own. */
    public void lateRows(Consumer<DataStream<Row>> sink) {
        lateRows = sink;
    }

    /**
     * Who takes the stream of late rows; null where nobody does.
     *
     * @throws IllegalArgumentException where no row is ever late
     */
    Consumer<DataStream<Row>> lateRows() {
        if (lateRows != null && input.isChangelog()) {
            throw new IllegalArgumentException(
                    "Dimension '%s' changes, so its rows are never late. Remove .lateRows(...)."
                            .formatted(input.name()));
        }
        return lateRows;
    }

    /** Columns of the facts that are the key, one for each of the dimension's. */
    List<String> factColumns() {
        return factColumns;
    }

    /**
     * Columns of the dimension that are the key.
     *
     * @throws IllegalArgumentException where there are none
     */
    List<String> columns() {
        if (columns.isEmpty()) {
            throw new IllegalArgumentException(
                    "a dimension is joined on a key, .on(factColumn, dimensionColumn): dimension="
                            + input.name());
        }
        return columns;
    }

    JoinKind kind() {
        if (!kind.keepsPayload() && !input.selections().isEmpty()) {
            throw new IllegalArgumentException(
                    "nothing of a semi- or anti-joined dimension stands in the result: dimension="
                            + input.name()
                            + ", selected="
                            + input.selections());
        }
        return kind;
    }

    /**
     * What is complete from the start changes afterwards; anything else is complete at its end.
     *
     * @throws IllegalArgumentException if that is an end which never comes
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
                    "a versioned dimension is partitioned, so that a fact and its version are in one"
                            + " subtask: dimension="
                            + input.name());
        }
        if (versioned) {
            return true;
        }
        if (distribution != null) {
            return distribution == Distribution.PARTITIONED;
        }
        return expectedBytes > replicateMaxBytes;
    }

    /** Whether its size may say how it is distributed: the job says neither. */
    boolean isMeasurable(long replicateMaxBytes) {
        return !isDistributionFixed() && !input.isChangelog() && !isPartitioned(replicateMaxBytes);
    }

    /**
     * Why the dimension is distributed as it is.
     *
     * @param partitioned whether it is the one that is
     */
    ReasonCode distributionReason(boolean partitioned, long replicateMaxBytes) {
        if (partitioned != isPartitioned(replicateMaxBytes)) {
            return ReasonCode.ONE_IS_PARTITIONED;
        }
        if (versioned) {
            return ReasonCode.VERSIONED;
        }
        if (distribution != null) {
            return ReasonCode.ASKED;
        }
        if (expectedBytes == PartitionClass.UNKNOWN) {
            return ReasonCode.SIZE_UNKNOWN;
        }
        return partitioned ? ReasonCode.OVER_LIMIT : ReasonCode.WITHIN_LIMIT;
    }

    /** Unknown sizes may be of any number of bytes. */
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
