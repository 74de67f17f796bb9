// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.record;

import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.java.functions.KeySelector;
import org.jspecify.annotations.Nullable;

/**
 * Key by which changes of a dimension are sent to packers: the integer that stands for the join
 * key, so that changes of one row meet in one packer and stay in order from there on.
 */
public final class ChangeKey<T> implements KeySelector<T, Long> {

    private static final long serialVersionUID = 1L;

    /** Key of records that the packer drops: unreadable ones, and those with a null key. */
    private static final Long NONE = 0L;

    private final TypeInformation<T> type;
    private final String column;

    /** Computes the key, or null if the key is a column of the records. */
    private final @Nullable SelectedKey<T, ?> computed;

    private transient RecordShape.@Nullable Getter<T> getter;
    private transient SelectedKey.@Nullable Reader<T, ?> reader;

    private ChangeKey(TypeInformation<T> type, String column, SelectedKey<T, ?> computed) {
        this.type = type;
        this.column = column;
        this.computed = computed;
    }

    /** Returns a key that is a column of integers. */
    public static <T> ChangeKey<T> ofColumn(TypeInformation<T> type, String column) {
        return new ChangeKey<>(type, column, null);
    }

    /** Returns a key that packers compute from other columns. */
    public static <T> ChangeKey<T> of(TypeInformation<T> type, SelectedKey<T, ?> computed) {
        return new ChangeKey<>(type, null, computed);
    }

    @Override
    public Long getKey(T record) {
        try {
            Number key = computed == null ? ofColumn(record) : ofComputed(record);
            return key == null ? NONE : (Long) key.longValue();
        } catch (Exception e) {
            // The packer fails for the same record and applies the policy for bad records.
            return NONE;
        }
    }

    private Number ofColumn(T record) {
        if (getter == null) {
            getter = RecordShape.of(type).getter(column);
        }
        return (Number) getter.get(record);
    }

    private Number ofComputed(T record) throws Exception {
        if (reader == null) {
            reader = computed.reader();
        }
        return reader.integer(record);
    }
}
