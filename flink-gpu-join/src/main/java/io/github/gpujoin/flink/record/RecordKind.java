// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.record;

import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.java.typeutils.PojoTypeInfo;
import org.apache.flink.api.java.typeutils.RowTypeInfo;
import org.apache.flink.api.java.typeutils.TupleTypeInfo;

/** Kinds of types, by how fields of their values are read and made. */
public enum RecordKind {
    /** A class with fields by Flink's rules, Java records among them. */
    POJO,
    ROW,
    TUPLE,
    /** Flink's internal rows, which tables are made of. */
    ROW_DATA,
    /** Generic and specific Avro records. */
    AVRO,
    /** Whatever has no named fields. */
    OTHER;

    private static final String AVRO_TYPES = "org.apache.flink.formats.avro.";
    private static final String ROW_DATA_CLASS = "org.apache.flink.table.data.RowData";

    /** By the names of classes that need not be there: those of tables and of Avro. */
    public static RecordKind of(TypeInformation<?> type) {
        // Before POJOs, whose type that of Avro's classes extends.
        if (type.getClass().getName().startsWith(AVRO_TYPES)) {
            return AVRO;
        }
        if (type instanceof PojoTypeInfo) {
            return POJO;
        }
        if (type instanceof RowTypeInfo) {
            return ROW;
        }
        if (type instanceof TupleTypeInfo) {
            return TUPLE;
        }
        return type.getTypeClass().getName().equals(ROW_DATA_CLASS) ? ROW_DATA : OTHER;
    }

    /** Whether a record says that it is inserted, updated or deleted. */
    public boolean hasRowKind() {
        return this == ROW || this == ROW_DATA;
    }
}
