// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.flink.emit.HashedDimension;
import io.github.gpujoin.flink.emit.OutputField;
import io.github.gpujoin.flink.emit.ResultEmitterFactory;
import io.github.gpujoin.flink.emit.ResultEmitters;
import io.github.gpujoin.flink.record.FieldKind;
import io.github.gpujoin.flink.record.RecordField;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.flink.api.common.typeinfo.Types;

/**
 * A join of facts (key, number) with prices (key, value) that change, whose keys are integers, or
 * texts of them that are hashed.
 *
 * @param kind inner or left
 * @param hashes how many hashes the texts have; 0 if keys are integers
 */
record ChangingShape(JoinKind kind, int hashes) {

    private static final ChunkSchema FACTS =
            ChunkSchema.of(
                    Column.of("key", ColumnType.INT64), Column.of("number", ColumnType.INT64));
    private static final ChunkSchema PRICES =
            ChunkSchema.of(
                    Column.of("id", ColumnType.INT64),
                    Column.of("value", ColumnType.INT64),
                    Column.of("change", ColumnType.INT32));

    private static final int TEXT_OF_FACT = 2;
    private static final ChunkSchema HASHED_FACTS =
            ChunkSchema.of(
                    Column.of("hash", ColumnType.INT64),
                    Column.of("number", ColumnType.INT64),
                    Column.nullable("text", ColumnType.BYTES));

    private static final int CHANGE = 2;
    private static final int ROW = 3;
    private static final int TEXT_OF_PRICE = 4;
    private static final ChunkSchema HASHED_PRICES =
            ChunkSchema.of(
                    Column.of("hash", ColumnType.INT64),
                    Column.of("value", ColumnType.INT64),
                    Column.of("change", ColumnType.INT32),
                    Column.of("row", ColumnType.INT64),
                    Column.nullable("text", ColumnType.BYTES));

    private boolean isHashed() {
        return hashes > 0;
    }

    JoinSpec spec() {
        return isHashed()
                ? new JoinSpec(
                        HASHED_FACTS,
                        List.of(
                                new DimensionSpec(
                                        "prices",
                                        HASHED_PRICES,
                                        0,
                                        0,
                                        kind,
                                        CHANGE,
                                        TEXT_OF_PRICE)))
                : new JoinSpec(
                        FACTS, List.of(new DimensionSpec("prices", PRICES, 0, 0, kind, CHANGE)));
    }

    ResultEmitterFactory<String> emitter() {
        if (!isHashed()) {
            return context -> new TextEmitter();
        }
        RecordField text =
                new RecordField(
                        "text", FieldKind.BYTES, true, Types.PRIMITIVE_ARRAY(Types.BYTE), null);
        HashedDimension verified =
                new HashedDimension(
                        0,
                        kind,
                        OutputField.ofFact(TEXT_OF_FACT, text),
                        OutputField.ofDimension(0, TEXT_OF_PRICE, text),
                        ROW);
        return ResultEmitters.verified(spec(), List.of(verified), context -> new TextEmitter());
    }

    /** Returns the key, or the hash of its text. */
    long integer(long key) {
        return isHashed() ? key % hashes : key;
    }

    /**
     * @param rows key and number of each fact
     */
    Chunk facts(int partition, List<long[]> rows) {
        ChunkBuilder builder = builder(isHashed() ? HASHED_FACTS : FACTS, rows);
        for (long[] row : rows) {
            addRow(builder, row);
        }
        return builder.seal(ChunkDescriptor.FACTS, partition, 0, 0);
    }

    /**
     * @param rows key, value and code of each change
     */
    Chunk changes(int partition, List<long[]> rows) {
        ChunkBuilder builder = builder(isHashed() ? HASHED_PRICES : PRICES, rows);
        for (long[] row : rows) {
            builder.putInt(CHANGE, (int) row[2]);
            if (isHashed()) {
                builder.putLong(ROW, row[1]);
            }
            addRow(builder, row);
        }
        return builder.seal(0, partition, 0, 0);
    }

    private static ChunkBuilder builder(ChunkSchema schema, List<long[]> rows) {
        return new ChunkBuilder(schema, 64 * rows.size());
    }

    private void addRow(ChunkBuilder builder, long[] row) {
        builder.putLong(0, integer(row[0]));
        builder.putLong(1, row[1]);
        if (isHashed()) {
            byte[] text = ("key " + row[0]).getBytes(StandardCharsets.UTF_8);
            builder.addBytes(text, 0, text.length);
        }
        builder.endRow();
    }
}
