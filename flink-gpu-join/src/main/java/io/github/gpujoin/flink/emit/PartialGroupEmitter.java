// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.region.Memory;
import java.io.IOException;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.apache.flink.types.RowUtils;

/**
 * Adds up counts and sums of result rows by group, and emits groups as Rows without event time:
 * once they exceed {@value #MAX_GROUPS}, and in {@link #flush}. A group may be emitted several
 * times, with parts of its sums.
 */
final class PartialGroupEmitter implements ResultEmitter<Row> {

    static final int MAX_GROUPS = 1 << 16;

    private final FieldReader[] columns;

    /** By sum; a sum without factors is a count. */
    private final FieldReader[][] factors;

    private final LinkedHashMap<String, Integer> positionByName;
    private final Map<List<Object>, long[]> groups = new LinkedHashMap<>();

    /**
     * @param factors of each sum: fixed-width integer columns that are never null
     */
    PartialGroupEmitter(
            JoinSpec spec,
            List<OutputField> columns,
            List<List<OutputField>> factors,
            GroupFields fields) {
        this.columns = readers(spec, columns);
        this.factors =
                factors.stream().map(sum -> readers(spec, sum)).toArray(FieldReader[][]::new);
        this.positionByName = fields.positionByName();
    }

    private static FieldReader[] readers(JoinSpec spec, List<OutputField> fields) {
        return fields.stream()
                .map(field -> new FieldReader(spec, field))
                .toArray(FieldReader[]::new);
    }

    @Override
    public void emit(ResultBatch batch, int fromRow, int toRow, Output<StreamRecord<Row>> output)
            throws IOException {
        bind(columns, batch);
        for (FieldReader[] sum : factors) {
            bind(sum, batch);
        }
        for (int row = fromRow; row < toRow; row++) {
            add(row, batch.probeRow(row));
        }
        if (groups.size() > MAX_GROUPS) {
            flush(output);
        }
    }

    private static void bind(FieldReader[] readers, ResultBatch batch) {
        for (FieldReader reader : readers) {
            reader.bind(batch);
        }
    }

    private void add(int row, int probeRow) throws IOException {
        Object[] group = new Object[columns.length];
        for (int i = 0; i < group.length; i++) {
            group[i] = columns[i].value(row, probeRow);
        }
        long[] sums = groups.computeIfAbsent(Arrays.asList(group), key -> new long[factors.length]);
        for (int i = 0; i < sums.length; i++) {
            long product = 1;
            for (FieldReader factor : factors[i]) {
                product *=
                        Memory.getInteger(
                                factor.base(),
                                factor.locate(row, probeRow),
                                factor.source().type().widthBytes());
            }
            sums[i] += product;
        }
    }

    @Override
    public void flush(Output<StreamRecord<Row>> output) {
        groups.forEach((group, sums) -> output.collect(new StreamRecord<>(record(group, sums))));
        groups.clear();
    }

    private Row record(List<Object> group, long[] sums) {
        Object[] values = group.toArray(new Object[group.size() + sums.length]);
        for (int i = 0; i < sums.length; i++) {
            values[group.size() + i] = sums[i];
        }
        return RowUtils.createRowWithNamedPositions(RowKind.INSERT, values, positionByName);
    }
}
