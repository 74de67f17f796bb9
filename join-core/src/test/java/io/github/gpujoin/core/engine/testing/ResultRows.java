// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.engine.testing;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/** Converts batches to {@link ResultRow}s, whose values are copies. */
public final class ResultRows {

    private ResultRows() {}

    /** Returns the rows of a batch in order. */
    public static List<ResultRow> of(JoinSpec spec, ResultBatch batch) {
        List<ResultRow> rows = new ArrayList<>(batch.rowCount());
        for (int row = 0; row < batch.rowCount(); row++) {
            rows.add(new ResultRow(batch.probeRow(row), payload(spec, batch, row)));
        }
        return rows;
    }

    private static String payload(JoinSpec spec, ResultBatch batch, int row) {
        StringBuilder text = new StringBuilder();
        for (int d = 0; d < spec.dimensions().size(); d++) {
            List<Long> bits = new ArrayList<>();
            for (int i = 0; i < batch.layout().payloadCount(d); i++) {
                bits.add(batch.getInteger(d, i, row));
            }
            boolean carries = spec.dimensions().get(d).hasVariableWidthPayload();
            byte[] variableWidth = carries ? batch.variableWidth(d, row) : null;
            if (batch.isMatched(d, row)) {
                append(text, bits, variableWidth);
            } else {
                assertThat(bits).as("payload without a match").allMatch(value -> value == 0);
                assertThat(variableWidth).as("variableWidth payload without a match").isNull();
                text.append(unmatched(bits.size()));
            }
        }
        return text.toString();
    }

    /** Returns the payload of a left-joined dimension without a match. */
    public static String unmatched(int payloadCount) {
        return "[no match of " + payloadCount + " columns]";
    }

    /** Appends the payload of one dimension: {@code [1, -2 | 0a0b]}. */
    public static void append(StringBuilder text, List<Long> bits, byte[] variableWidth) {
        text.append('[');
        for (int i = 0; i < bits.size(); i++) {
            text.append(i == 0 ? "" : ", ").append(bits.get(i));
        }
        if (variableWidth != null) {
            text.append(" | ").append(HexFormat.of().formatHex(variableWidth));
        }
        text.append(']');
    }
}
