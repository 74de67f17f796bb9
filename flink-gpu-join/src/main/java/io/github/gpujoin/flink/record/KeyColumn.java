// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.record;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.typeinfo.Types;

/**
 * Columns that a packer computes from a record's key and puts before the record's columns:
 *
 * <pre>
 *   name       fixed, compared by engines
 *   bytesName  BYTES, the key's canonical bytes      where keys are hashed, to compare them again
 *   rowName    fixed INT64, unique for each row      if isNumbered
 * </pre>
 *
 * <p>Row numbers count from a random start, which differs for each packer and attempt. Two rows
 * have the same number only by chance, and results are wrong only if their hashes are equal, too.
 *
 * @param isNumbered whether there is a column of row numbers
 */
public record KeyColumn<T>(String name, SelectedKey<T, ?> key, boolean isNumbered)
        implements Serializable {

    private static final String BYTES = "$keyBytes";

    /** Name of the column of row numbers. */
    public static final String ROW_NAME = "$row";

    /** Returns the columns of a key that consists of columns of records. */
    public static <T> KeyColumn<T> of(
            List<String> columns, SelectedKey<T, ?> key, boolean isNumbered) {
        String suffix = key.layout().nulls() == KeyLayout.Nulls.MATCH_NULLS ? ") null-safe" : ")";
        return new KeyColumn<>(
                RecordLayout.KEY + "(" + String.join(",", columns) + suffix + key.layout().parts(),
                key,
                isNumbered);
    }

    static boolean isReserved(String name) {
        return name.startsWith(RecordLayout.KEY + "(")
                || name.equals(BYTES)
                || name.startsWith(BYTES + "(")
                || name.equals(ROW_NAME);
    }

    /**
     * Returns the name of the column of canonical bytes, if the key is not {@linkplain
     * KeyLayout#isExact exact}.
     */
    public String bytesName() {
        return BYTES + name.substring(RecordLayout.KEY.length());
    }

    /**
     * Returns the name of the column whose values are equal exactly if the keys are: the integer of
     * an exact key, or the bytes of another one.
     */
    public String comparedName() {
        return key.layout().isExact() ? name : bytesName();
    }

    RecordField integerField() {
        return new RecordField(name, key.layout().kind(), false, key.layout().type(), null);
    }

    /** Returns all columns of the key. */
    List<RecordField> fields() {
        List<RecordField> fields = new ArrayList<>(List.of(integerField()));
        if (!key.layout().isExact()) {
            fields.add(
                    new RecordField(
                            bytesName(),
                            FieldKind.BYTES,
                            true,
                            Types.PRIMITIVE_ARRAY(Types.BYTE),
                            null));
        }
        if (isNumbered) {
            fields.add(new RecordField(ROW_NAME, FieldKind.LONG, false, Types.LONG, null));
        }
        return fields;
    }
}
