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

    private final RecordLayout<T> layout;

    /** Returns the kind of a change, or null if records are not changes. */
    private final @Nullable MapFunction<T, RowKind> kindOfChange;

    private transient RecordEncoder<T> encoder;

    /** The one row of a record, and its key. */
    private transient int[] row;

    private transient long[] key;

    /** The groups' targets; one if rows are staged. */
    private transient RecordEncoder.Target[] targets;

    /** Rows that wait to be divided among the groups, or null if these are few. */
    private transient @Nullable StagedRows staged;

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
        staged =
                packing.isPartitioned() && groups.count() > MAX_GROUPS_AT_ONCE
                        ? new StagedRows(layout.schema(), packing, groups, sink)
                        : null;
        targets = new RecordEncoder.Target[staged == null ? groups.count() : 1];
    }

    @Override
    void drain() {
        if (staged != null) {
            staged.divide();
        }
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
        RowPruner pruner = filters.pruner(1, MAX_KEPT_SHARE);
        if (pruner != null && isPruned(record, pruner)) {
            rowsPruned.inc();
            return;
        }
        add(record, timestamp);
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
            if (packing.isPartitioned() && staged == null) {
                long key = encoder.key(record, packing.partitionColumn());
                group = groups.of(key);
            }
            target = target(group);
            encoder.encode(record, timestamp, target);
        } catch (Exception e) {
            if (target != null) {
                target.discardRow();
            }
            throw unpackable(e);
        }
        if (target.hasOneRow() || target.isFull()) {
            if (staged == null) {
                sink.added(group, 1, sink.nowMs());
            } else {
                staged.added();
            }
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
            target = encoder.target(staged == null ? sink.builder(group) : staged.builder());
            targets[group] = target;
        }
        return target;
    }
}
