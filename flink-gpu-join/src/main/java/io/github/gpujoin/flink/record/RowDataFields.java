// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.record;

import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.region.Memory;
import java.util.List;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.core.memory.MemorySegment;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.data.binary.BinaryStringData;
import org.apache.flink.table.data.conversion.DataStructureConverter;
import org.apache.flink.table.data.conversion.DataStructureConverters;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.DataTypeQueryable;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.utils.LogicalTypeChecks;
import org.apache.flink.table.types.utils.DataTypeUtils;
import org.apache.flink.table.types.utils.TypeConversions;
import org.jspecify.annotations.Nullable;

/**
 * Fields of Flink's internal rows as fields of its DataStream API: text as String, decimals as
 * BigDecimal, dates and timestamps as the classes of {@code java.time}. Fields of arrays, maps and
 * rows stay as they are.
 */
public final class RowDataFields {

    private RowDataFields() {}

    /**
     * Fields of a type of RowData.
     *
     * @throws IllegalArgumentException where the type does not say them
     */
    public static RowType rowType(TypeInformation<?> type) {
        if (type instanceof DataTypeQueryable queryable
                && queryable.getDataType().getLogicalType() instanceof RowType row) {
            return row;
        }
        throw new IllegalArgumentException(
                "A stream of RowData lacks its row type. Use InternalTypeInfo.of(rowType): type="
                        + type);
    }

    static boolean hasRowType(TypeInformation<?> type) {
        return type instanceof DataTypeQueryable queryable
                && queryable.getDataType().getLogicalType() instanceof RowType;
    }

    static List<String> names(TypeInformation<?> type) {
        return rowType(type).getFieldNames();
    }

    /** Type of a field's values. */
    public static TypeInformation<?> typeOf(LogicalType type) {
        return switch (type.getTypeRoot()) {
            case BOOLEAN -> Types.BOOLEAN;
            case TINYINT -> Types.BYTE;
            case SMALLINT -> Types.SHORT;
            case INTEGER -> Types.INT;
            case BIGINT -> Types.LONG;
            case FLOAT -> Types.FLOAT;
            case DOUBLE -> Types.DOUBLE;
            case CHAR, VARCHAR -> Types.STRING;
            case BINARY, VARBINARY -> PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO;
            case DECIMAL -> Types.BIG_DEC;
            case DATE -> Types.LOCAL_DATE;
            case TIME_WITHOUT_TIME_ZONE -> Types.LOCAL_TIME;
            case TIMESTAMP_WITHOUT_TIME_ZONE -> Types.LOCAL_DATE_TIME;
            case TIMESTAMP_WITH_LOCAL_TIME_ZONE -> Types.INSTANT;
            default -> InternalTypeInfo.of(type);
        };
    }

    /** Returns the bits of a number or truth value of a row, as its column has them. */
    static long bits(RowData row, int index, FieldKind kind) {
        return switch (kind) {
            case BYTE -> row.getByte(index);
            case SHORT -> row.getShort(index);
            case INT -> row.getInt(index);
            case LONG -> row.getLong(index);
            case FLOAT -> Float.floatToRawIntBits(row.getFloat(index));
            case DOUBLE -> Double.doubleToRawLongBits(row.getDouble(index));
            case BOOLEAN -> row.getBoolean(index) ? 1 : 0;
            default -> throw new IllegalStateException("Field is not a number: kind=" + kind);
        };
    }

    /** Adds a text of a row to a row of a chunk; one of UTF-8 bytes without a String. */
    static void addText(StringData text, ChunkBuilder target) {
        // With a String at hand, its bytes may lack what UTF-8 cannot encode.
        if (text instanceof BinaryStringData binary && binary.getJavaObject() == null) {
            byte[] heap = heap(binary.getSegments());
            if (heap != null) {
                target.addBytes(heap, binary.getOffset(), binary.getSizeInBytes());
                return;
            }
        }
        target.addString(text.toString());
    }

    /** Returns the array that all of a value is in, or null if there is none. */
    private static byte @Nullable [] heap(MemorySegment[] segments) {
        return segments.length == 1 && !segments[0].isOffHeap()
                ? segments[0].getHeapMemory()
                : null;
    }

    /**
     * Writes a text of a row as part of a key, as its String would be; ASCII without a String.
     *
     * @param text StringData
     */
    static void writeText(Object text, KeyBytes out) {
        // With a String at hand, its bytes may lack what UTF-8 cannot encode.
        if (text instanceof BinaryStringData binary && binary.getJavaObject() == null) {
            byte[] heap = heap(binary.getSegments());
            int length = binary.getSizeInBytes();
            long at = Memory.BYTES + binary.getOffset();
            if (heap != null && isAscii(heap, at, length)) {
                out.writeLatin1(heap, at, length);
                return;
            }
        }
        out.writeText(text.toString());
    }

    private static boolean isAscii(byte[] base, long at, int length) {
        long all = 0;
        int i = 0;
        for (; i + Long.BYTES <= length; i += Long.BYTES) {
            all |= Memory.getLong(base, at + i);
        }
        for (; i < length; i++) {
            all |= Memory.getByte(base, at + i);
        }
        return (all & 0x8080808080808080L) == 0;
    }

    /** How much of a second a row holds, in memory and as Flink writes it. */
    public static TimeResolution resolution(LogicalType type) {
        boolean inMilliseconds =
                switch (type.getTypeRoot()) {
                    case TIME_WITHOUT_TIME_ZONE -> true;
                    case TIMESTAMP_WITHOUT_TIME_ZONE, TIMESTAMP_WITH_LOCAL_TIME_ZONE ->
                            TimestampData.isCompact(LogicalTypeChecks.getPrecision(type));
                    default -> false;
                };
        return inMilliseconds ? TimeResolution.MILLISECONDS : TimeResolution.NANOSECONDS;
    }

    /** Between what a row holds and what {@link #typeOf} says; takes nulls. */
    public static DataStructureConverter<Object, Object> converter(LogicalType type) {
        DataType external =
                typeOf(type) instanceof InternalTypeInfo
                        ? DataTypeUtils.toInternalDataType(type)
                        : TypeConversions.fromLogicalToDataType(type);
        DataStructureConverter<Object, Object> converter =
                DataStructureConverters.getConverter(external);
        converter.open(RowDataFields.class.getClassLoader());
        return converter;
    }
}
