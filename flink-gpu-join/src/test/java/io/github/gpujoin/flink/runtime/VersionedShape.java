// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import static io.github.gpujoin.flink.runtime.VersionedScenario.FACTS;
import static io.github.gpujoin.flink.runtime.VersionedScenario.LATE_FACTS;
import static io.github.gpujoin.flink.runtime.VersionedScenario.LATE_VERSIONS;
import static io.github.gpujoin.flink.runtime.VersionedScenario.PRICES;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.KeyHash;
import io.github.gpujoin.flink.emit.HashedDimension;
import io.github.gpujoin.flink.emit.OutputField;
import io.github.gpujoin.flink.emit.ResultEmitter;
import io.github.gpujoin.flink.emit.ResultEmitterFactory;
import io.github.gpujoin.flink.emit.ResultEmitters;
import io.github.gpujoin.flink.record.FieldKind;
import io.github.gpujoin.flink.record.KeyColumn;
import io.github.gpujoin.flink.record.RecordField;
import io.github.gpujoin.flink.record.RecordLayout;
import io.github.gpujoin.flink.runtime.eventtime.EventTimeJoin;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.api.common.typeinfo.Types;

/**
 * A join of facts (key, number, time) with versions of prices (key, value, time, change), whose
 * keys are integers, or texts of them that are hashed.
 *
 * @param kind inner or left
 * @param hashes how many hashes the texts have; 0 if keys are integers
 */
record VersionedShape(JoinKind kind, int hashes) {

    /** Reserved, so that late rows lack it. */
    private static final String TEXT = "$keyBytes";

    private static final int TIME = 2;
    private static final int CHANGE = 3;
    private static final int ROW = 4;
    private static final int TEXT_OF_FACT = 3;
    private static final int TEXT_OF_PRICE = 5;
    private static final ChunkSchema HASHED_FACTS =
            ChunkSchema.of(
                    Column.of("key", ColumnType.INT64),
                    Column.of("number", ColumnType.INT64),
                    Column.of(RecordLayout.TIMESTAMP, ColumnType.INT64),
                    Column.nullable(TEXT, ColumnType.BYTES));
    private static final ChunkSchema HASHED_PRICES =
            ChunkSchema.of(
                    Column.of("id", ColumnType.INT64),
                    Column.of("value", ColumnType.INT64),
                    Column.of(RecordLayout.TIMESTAMP, ColumnType.INT64),
                    Column.of(RecordLayout.CHANGE, ColumnType.INT32),
                    Column.of(KeyColumn.ROW_NAME, ColumnType.INT64),
                    Column.nullable(TEXT, ColumnType.BYTES));

    private boolean isHashed() {
        return hashes > 0;
    }

    JoinSpec spec() {
        return new JoinSpec(
                isHashed() ? HASHED_FACTS : FACTS,
                List.of(
                        new DimensionSpec(
                                "prices",
                                isHashed() ? HASHED_PRICES : PRICES,
                                0,
                                0,
                                kind,
                                CHANGE,
                                isHashed() ? TEXT_OF_PRICE : DimensionSpec.EXACT_KEY)));
    }

    EventTimeJoin eventTime(boolean joinsLateRows) {
        return new EventTimeJoin(
                0,
                TIME,
                TIME,
                isHashed() ? TEXT_OF_FACT : DimensionSpec.EXACT_KEY,
                joinsLateRows,
                LATE_FACTS,
                LATE_VERSIONS);
    }

    /** Returns an emitter behind the hash collision check, if keys are hashed. */
    ResultEmitterFactory<String> emitter(ResultEmitter<String> emitter) {
        if (!isHashed()) {
            return context -> emitter;
        }
        RecordField text =
                new RecordField(
                        TEXT, FieldKind.BYTES, true, Types.PRIMITIVE_ARRAY(Types.BYTE), null);
        HashedDimension verified =
                new HashedDimension(
                        0,
                        kind,
                        OutputField.ofFact(TEXT_OF_FACT, text),
                        OutputField.ofDimension(0, TEXT_OF_PRICE, text),
                        ROW);
        return ResultEmitters.verified(spec(), List.of(verified), context -> emitter);
    }

    /**
     * Returns a chunk for each partition.
     *
     * @param rows key, number and time of each fact
     */
    List<Chunk> facts(List<long[]> rows) {
        return chunks(isHashed() ? HASHED_FACTS : FACTS, ChunkDescriptor.FACTS, rows);
    }

    /**
     * Returns a chunk for each partition.
     *
     * @param rows key, value, time and code of the change of each version
     */
    List<Chunk> versions(List<long[]> rows) {
        return chunks(isHashed() ? HASHED_PRICES : PRICES, 0, rows);
    }

    private List<Chunk> chunks(ChunkSchema schema, int dimension, List<long[]> rows) {
        Map<Integer, ChunkBuilder> builders = new TreeMap<>();
        for (long[] row : rows) {
            ChunkBuilder builder =
                    builders.computeIfAbsent(
                            partition(row[0]), p -> new ChunkBuilder(schema, 64 * rows.size()));
            addRow(builder, row);
        }
        List<Chunk> chunks = new ArrayList<>();
        builders.forEach((partition, b) -> chunks.add(b.seal(dimension, partition, 0, 0)));
        return chunks;
    }

    private void addRow(ChunkBuilder builder, long[] row) {
        builder.putLong(0, integer(row[0]));
        builder.putLong(1, row[1]);
        builder.putLong(TIME, row[2]);
        boolean isVersion = row.length > CHANGE;
        if (isVersion) {
            builder.putInt(CHANGE, (int) row[CHANGE]);
        }
        if (isHashed()) {
            if (isVersion) {
                builder.putLong(ROW, row[1]);
            }
            // From 0 to 13 bytes, among them 8: state has key bytes in numbers of 8 bytes.
            String key = row[0] == 0 ? "" : "k".repeat((int) row[0] % 12) + row[0];
            byte[] text = key.getBytes(StandardCharsets.UTF_8);
            builder.addBytes(text, 0, text.length);
        }
        builder.endRow();
    }

    private long integer(long key) {
        return isHashed() ? key % hashes : key;
    }

    private int partition(long key) {
        return KeyHash.partition(KeyHash.hash(integer(key)), JoinScenario.MAX_PARALLELISM);
    }
}
