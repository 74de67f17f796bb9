// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.bulk.BulkInput;
import io.github.gpujoin.core.bulk.VariableWidthRow;
import io.github.gpujoin.core.layout.Chunk;
import java.util.List;

/**
 * Lengths of the key records of an input whose keys have no nulls, known before the keys are
 * encoded. Not thread-safe.
 */
final class KeyRecordSizes {

    /** Length and value of an integer among the key bytes, which widen all integers. */
    private static final int INTEGER_BYTES = Integer.BYTES + Long.BYTES;

    private final VariableWidthRow values;
    private final List<Integer> variableWidthColumns;
    private final int integersBytes;
    private final int integersUnits;

    KeyRecordSizes(BulkInput input) {
        this.values = new VariableWidthRow(input.schema());
        this.variableWidthColumns =
                input.keyColumns().stream()
                        .filter(column -> !input.schema().column(column).isFixed())
                        .toList();
        this.integersBytes =
                INTEGER_BYTES * (input.keyColumns().size() - variableWidthColumns.size());
        this.integersUnits = KeyArena.units(integersBytes);
    }

    /** Returns the length of the record of a row, see {@link KeyArena#units}. */
    int units(Chunk chunk, int row) {
        if (variableWidthColumns.isEmpty()) {
            return integersUnits;
        }
        values.at(chunk, row);
        return KeyArena.units(
                Math.addExact(integersBytes, values.lengthBytes(variableWidthColumns)));
    }
}
