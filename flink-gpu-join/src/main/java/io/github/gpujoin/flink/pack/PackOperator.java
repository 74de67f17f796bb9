// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.pack;

import io.github.gpujoin.core.engine.RowChange;
import io.github.gpujoin.core.filter.RowPruner;
import io.github.gpujoin.flink.record.RecordEncoder;
import io.github.gpujoin.flink.record.RecordField;
import io.github.gpujoin.flink.record.RecordLayout;
import io.github.gpujoin.flink.record.UnreadableRecordException;
import java.util.Objects;
import org.apache.flink.api.common.functions.FilterFunction;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.functions.util.FunctionUtils;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.types.RowKind;
import org.jspecify.annotations.Nullable;

/**
 * Packs records into chunks. It writes all that it needs of a record before it returns, and keeps
 * no reference to it.
 */
public final class PackOperator<T> extends AbstractPackOperator<T, T> {

    private static final long serialVersionUID = 1L;

    /** The builders of as many groups stay in a core's first cache. */
    private static final int MAX_GROUPS_AT_ONCE = 8;

    /**
     * Facts of more bytes are tested before they are written. Narrow ones are staged, and tested
     * together.
     */
    private static final int MAX_TESTED_ROW_BYTES = 64;

    /**
     * A core's second cache holds filters up to this size. A test of a larger one costs more than
     * the join of a narrow fact.
     */
    private static final int MAX_CACHED_FILTER_BYTES = 1 << 20;

    /** Rows that are not staged between two looks for filters. */
    private static final int UNSTAGED_ROWS = 64;

    private final RecordLayout<T> layout;

    /** Returns the kind of a change, or null if records are not changes. */
    private final @Nullable MapFunction<T, RowKind> kindOfChange;

    private transient RecordEncoder<T> encoder;

    /** The one row of a record, and its key. */
    private transient int[] row;

    private transient long[] key;

    private transient RecordEncoder.Target[] targets;

    /** Rows that wait to be tested and divided among the groups; null if that never pays. */
    private transient @Nullable StagedRows staged;

    private transient RecordEncoder.@Nullable Target stagedTarget;

    /** Whether rows are staged to be divided, also while no filter tests them. */
    private transient boolean dividesStaged;

    /** Whether filters test staged rows, and not each record before it is written. */
    private transient boolean testsStaged;

    /** Whether the next rows are staged. Else no row is. */
    private transient boolean isStaging;

    /** Rows until {@link #isStaging} is decided again. */
    private transient int rowsToDecision;

    /**
     * @param filter of records, null to keep all
     * @throws IllegalArgumentException if the packing's partition column is not a key
     */
    public PackOperator(
            RecordLayout<T> layout, @Nullable FilterFunction<T> filter, PackSpec packing) {
        this(layout, filter, null, packing);
    }

    /**
     * @param layout of changes where these are
     * @param filter of records, null to keep all; a change to a record that it does not keep
     *     deletes the row of its key
     * @param kindOfChange says what each record does to the row of its key; null where records are
     *     not changes
     */
    public PackOperator(
            RecordLayout<T> layout,
            @Nullable FilterFunction<T> filter,
            @Nullable MapFunction<T, RowKind> kindOfChange,
            PackSpec packing) {
        super(layout.schema(), filter, packing);
        this.layout = layout;
        this.kindOfChange = kindOfChange;
    }

    @Override
    long types() {
        return RecordField.typesOf(layout.fields());
    }

    @Override
    public void open() throws Exception {
        super.open();
        if (kindOfChange != null) {
            open(kindOfChange);
        }
        encoder = layout.encoder();
        row = new int[1];
        key = new long[1];
        onPackingChanged();
    }

    @Override
    void onPackingChanged() {
        dividesStaged = packing.isPartitioned() && groups.count() > MAX_GROUPS_AT_ONCE;
        testsStaged = mayPrune() && layout.schema().fixedRowBytes() <= MAX_TESTED_ROW_BYTES;
        staged =
                dividesStaged || testsStaged
                        ? new StagedRows(layout.schema(), packing, groups, sink)
                        : null;
        stagedTarget = staged == null ? null : encoder.target(staged.builder());
        targets = new RecordEncoder.Target[groups.count()];
        isStaging = dividesStaged;
        rowsToDecision = 0;
    }

    @Override
    void drain() {
        if (staged != null) {
            divide();
        }
    }

    private void divide() {
        int rowCount = staged.rowCount();
        if (rowCount == 0) {
            return;
        }
        RowPruner pruner = testsStaged ? pruner(rowCount) : null;
        rowsPruned.inc(staged.divide(pruner));
        isStaging = dividesStaged || pruner != null;
        rowsToDecision = UNSTAGED_ROWS;
    }

    @Override
    public void processElement(StreamRecord<T> element) throws Exception {
        T record = element.getValue();
        try {
            if (kindOfChange != null) {
                addChange(record, element);
            } else {
                addIfKept(record, element);
            }
        } catch (UnreadableRecordException e) {
            bad(record, e);
        }
    }

    private void addIfKept(T record, StreamRecord<T> element) {
        if (!keeps(record)) {
            rowsIn.inc();
            rowsFiltered.inc();
            return;
        }
        long timestamp = element.hasTimestamp() ? element.getTimestamp() : Long.MIN_VALUE;
        rowsIn.inc();
        if (!accepts(record)) {
            nullKeyRows.inc();
            return;
        }
        if (testsStaged) {
            if (!isStaging && --rowsToDecision < 0) {
                isStaging = pruner(UNSTAGED_ROWS) != null;
                rowsToDecision = UNSTAGED_ROWS;
            }
        } else {
            RowPruner pruner = pruner(1);
            if (pruner != null && isPruned(record, pruner)) {
                rowsPruned.inc();
                return;
            }
        }
        add(record, timestamp);
    }

    private @Nullable RowPruner pruner(int rowCount) {
        long maxBytes = testsStaged ? MAX_CACHED_FILTER_BYTES : Long.MAX_VALUE;
        return filters.pruner(rowCount, MAX_KEPT_SHARE, maxBytes);
    }

    private boolean isPruned(T record, RowPruner pruner) {
        return pruner.select(
                        (column, condition, rows, count) ->
                                condition.select(key(record, column), rows, 0, count, 0),
                        row,
                        1)
                == 0;
    }

    private long[] key(T record, int column) {
        try {
            key[0] = encoder.key(record, column);
        } catch (Exception e) {
            throw unpackable(e);
        }
        return key;
    }

    private void addChange(T record, StreamRecord<T> element) {
        rowsIn.inc();
        RowKind kind = kindOf(record);
        if (kind == RowKind.UPDATE_BEFORE) {
            return;
        }
        boolean kept = kind != RowKind.DELETE && keeps(record);
        if (kind != RowKind.DELETE && !kept) {
            rowsFiltered.inc();
        }
        if (!accepts(record)) {
            nullKeyRows.inc();
            return;
        }
        encoder.change(kept ? RowChange.UPSERT : RowChange.DELETE);
        add(record, element.hasTimestamp() ? element.getTimestamp() : Long.MIN_VALUE);
    }

    private RowKind kindOf(T record) {
        try {
            return Objects.requireNonNull(kindOfChange.map(record), "the kind of a change");
        } catch (Exception e) {
            throw unpackable(e);
        }
    }

    private boolean accepts(T record) {
        try {
            return encoder.accept(record);
        } catch (Exception e) {
            throw unpackable(e);
        }
    }

    private void add(T record, long timestamp) {
        int group = 0;
        RecordEncoder.Target target = null;
        try {
            if (isStaging) {
                target = stagedTarget;
            } else {
                if (packing.isPartitioned()) {
                    group = groups.of(encoder.key(record, packing.partitionColumn()));
                }
                target = target(group);
            }
            encoder.encode(record, timestamp, target);
        } catch (Exception e) {
            if (target != null) {
                target.discardRow();
            }
            throw unpackable(e);
        }
        if (target.hasOneRow() || target.isFull()) {
            added(target, group);
        }
    }

    private void added(RecordEncoder.Target target, int group) {
        if (!isStaging) {
            sink.added(group, 1, sink.nowMs());
            return;
        }
        if (target.hasOneRow()) {
            staged.addedFirst();
        }
        if (target.isFull()) {
            divide();
            testsStaged &= staged.rowBytes() <= MAX_TESTED_ROW_BYTES;
            isStaging &= dividesStaged || testsStaged;
        }
    }

    @Override
    public void close() throws Exception {
        if (kindOfChange != null) {
            FunctionUtils.closeFunction(kindOfChange);
        }
        super.close();
    }

    private UnreadableRecordException unpackable(Exception cause) {
        return unpackable(packing, cause);
    }

    static UnreadableRecordException unpackable(PackSpec packing, Exception cause) {
        return new UnreadableRecordException(
                "A record of a side of the join cannot be packed", packing.side(), cause);
    }

    private RecordEncoder.Target target(int group) {
        RecordEncoder.Target target = targets[group];
        if (target == null) {
            target = encoder.target(sink.builder(group));
            targets[group] = target;
        }
        return target;
    }
}
