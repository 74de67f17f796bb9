// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.record;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.typeinfo.Types;

/**
 * Columns that a packer makes of a record's key, in front of the record's own:
 *
 * <pre>
 *   name       fixed, what an engine compares
 *   bytesName  BYTES, the key's canonical bytes      where keys are hashed, to compare them again
 *   rowName    fixed INT64, another for each row     of some sides of such keys
 * </pre>
 *
 * <p>A row's number is a count from a random start, another for each packer and attempt. So two
 * rows share one by chance alone, and it would do harm only if their hashes were equal as well.
 *
 * @param isNumbered whether there is the third
 */
public record KeyColumn<T>(String name, SelectedKey<T, ?> key, boolean isNumbered)
        implements Serializable {

    private static final String BYTES = "$keyBytes";

    /** Name of the column of row numbers. */
    public static final String ROW_NAME = "$row";

    /** Of a key that is made of columns of records. */
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
                || name.startsWith(BYTES + "(")
                || name.equals(ROW_NAME);
    }

    /** Of a key that {@linkplain KeyLayout#isExact is not exact}. */
    public String bytesName() {
        return BYTES + name.substring(RecordLayout.KEY.length());
    }

    RecordField integerField() {
        return new RecordField(name, key.layout().kind(), false, key.layout().type(), null);
    }

    /** All of its columns that travel. */
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
