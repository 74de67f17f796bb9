// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkCursor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.KeyHash;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PartitionDividerTest {

    private static final ChunkSchema SCHEMA =
            ChunkSchema.of(
                    Column.of("number", ColumnType.INT32),
                    Column.of("key", ColumnType.INT64),
                    Column.of("text", ColumnType.STRING));
    private static final int KEY = 1;

    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void shouldKeepAllRowsAndTheirOrderInEachPartition(long seed) throws Exception {
        Random random = new Random(seed);
        int partitions = 1 + random.nextInt(4096);
        int parallelism = 1 + random.nextInt(Math.min(partitions, 5));
        PartitionKeys keys =
                new PartitionKeys(partitions, parallelism, random.nextInt(parallelism));
        PartitionDivider divider = new PartitionDivider(keys, SCHEMA, KEY);
        Map<Integer, List<String>> expected = new TreeMap<>();
        int number = 0;
        for (int chunks = random.nextInt(4); chunks >= 0; chunks--) {
            ChunkBuilder builder = new ChunkBuilder(SCHEMA, 1 << 20);
            int rows = random.nextInt(3_000);
            int firstRow = random.nextInt(rows + 1);
            for (int row = 0; row < rows; row++) {
                long key = keyOf(random, partitions, keys.ownPartitions());
                addRow(builder, number, key);
                if (row >= firstRow) {
                    expected.computeIfAbsent(partition(key, partitions), p -> new ArrayList<>())
                            .add(number + "|" + key + "|t" + number);
                }
                number++;
            }
            int first = keys.ownPartitions().getStartKeyGroup();
            divider.add(builder.sealMany(2, first, 5, 0), firstRow);
        }
        Map<Integer, List<String>> divided = new TreeMap<>();
        divider.divide(part -> collect(part, divided));
        assertThat(divided).isEqualTo(expected);
        assertThat(divider.isEmpty()).isTrue();
        divider.divide(
                part -> {
                    throw new AssertionError("rows are emitted once");
                });
    }

    @Test
    void shouldRejectRowOfAnotherSubtask() {
        PartitionKeys keys = new PartitionKeys(512, 2, 0);
        PartitionDivider divider = new PartitionDivider(keys, SCHEMA, KEY);
        ChunkBuilder builder = new ChunkBuilder(SCHEMA, 1 << 20);
        long key = keyOf(new Random(1), 512, new PartitionKeys(512, 2, 1).ownPartitions());
        addRow(builder, 0, key);
        divider.add(builder.sealMany(0, 0, 0, 0), 0);
        assertThatThrownBy(() -> divider.divide(part -> {}))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage(
                        "Row of another subtask: partition=%d, own=%s. Restart the job."
                                .formatted(partition(key, 512), keys.ownPartitions()));
    }

    @Test
    void shouldBeFullBeforeTheHeapIs() {
        PartitionDivider divider = new PartitionDivider(new PartitionKeys(512, 1, 0), SCHEMA, KEY);
        long bytes = 0;
        while (!divider.isFull()) {
            ChunkBuilder builder = new ChunkBuilder(SCHEMA, 128 << 10);
            while (!builder.isFull()) {
                addRow(builder, 0, 7);
            }
            Chunk chunk = builder.sealMany(0, 0, 0, 0);
            bytes += chunk.lengthBytes();
            divider.add(chunk, 0);
        }
        assertThat(bytes).isBetween(8L << 20, 9L << 20);
    }

    private static int partition(long key, int partitions) {
        return KeyHash.partition(KeyHash.hash(key), partitions);
    }

    private static long keyOf(Random random, int partitions, KeyGroupRange own) {
        long key = random.nextLong();
        while (!own.contains(partition(key, partitions))) {
            key = random.nextLong();
        }
        return key;
    }

    private static void addRow(ChunkBuilder builder, int number, long key) {
        builder.putInt(0, number);
        builder.putLong(KEY, key);
        builder.addString("t" + number);
        builder.endRow();
    }

    private static void collect(Chunk part, Map<Integer, List<String>> divided) {
        assertThat(part.hasManyPartitions()).isFalse();
        assertThat(part.dimension()).isEqualTo(2);
        assertThat(part.epoch()).isEqualTo(5);
        ChunkCursor cursor = new ChunkCursor(SCHEMA);
        for (int row = 0; row < part.rowCount(); row++) {
            cursor.at(part, row);
            divided.computeIfAbsent(part.partition(), p -> new ArrayList<>())
                    .add(cursor.getInt(0) + "|" + cursor.getLong(KEY) + "|" + cursor.getString(2));
        }
    }
}
