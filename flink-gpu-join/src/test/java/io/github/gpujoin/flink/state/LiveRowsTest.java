// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.RowChange;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.VariableWidthColumn;
import io.github.gpujoin.core.layout.testing.TestChunks;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Rows of keys that are integers, or hashes that several keys share. */
class LiveRowsTest {

    private static final int KEYS = 100;
    private static final int TIME = 2;
    private static final int KEY_BYTES = 4;
    private static final ChunkSchema SCHEMA =
            ChunkSchema.of(
                    Column.of("integer", ColumnType.INT64),
                    Column.of("change", ColumnType.INT32),
                    Column.of("time", ColumnType.INT64),
                    Column.nullable("text", ColumnType.STRING),
                    Column.of("key", ColumnType.BYTES));

    private final Map<Integer, Long> expected = new HashMap<>();

    @ParameterizedTest(name = "seed={0} hashes={1}")
    @CsvSource({"1,0", "2,7", "3,100", "4,1"})
    void shouldKeepTheLastRowOfEachKey(long seed, int hashes) throws Exception {
        Random random = new Random(seed);
        LiveRows live =
                new LiveRows(
                        new DimensionSpec(
                                "prices",
                                SCHEMA,
                                0,
                                0,
                                JoinKind.LEFT,
                                1,
                                hashes == 0 ? DimensionSpec.EXACT_KEY : KEY_BYTES));
        for (long time = 0; time < 20; time++) {
            live.apply(changes(random, hashes, time));
        }
        assertThat(live.size()).isEqualTo(expected.size()).isPositive();

        LiveRows old = live.removeBefore(TIME, 18);
        assertThat(timesByKey(old, RowChange.DELETE)).isNotEmpty().isEqualTo(expected(0, 18));
        assertThat(timesByKey(live, RowChange.UPSERT)).isNotEmpty().isEqualTo(expected(18, 20));
        assertThat(live.oldest(TIME)).isEqualTo(18);
    }

    private Chunk changes(Random random, int hashes, long time) {
        List<Object[]> rows = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            int key = random.nextInt(KEYS);
            boolean deletes = random.nextInt(3) == 0;
            rows.add(
                    new Object[] {
                        (long) (hashes == 0 ? key : key % hashes),
                        (deletes ? RowChange.DELETE : RowChange.UPSERT).code(),
                        time,
                        random.nextBoolean() ? null : "some text",
                        Integer.toString(key).getBytes(StandardCharsets.US_ASCII)
                    });
            if (deletes) {
                expected.remove(key);
            } else {
                expected.put(key, time);
            }
        }
        return TestChunks.of(SCHEMA, 0, rows);
    }

    private Map<Integer, Long> expected(long from, long to) {
        Map<Integer, Long> times = new HashMap<>(expected);
        times.values().removeIf(time -> time < from || time >= to);
        return times;
    }

    private static Map<Integer, Long> timesByKey(LiveRows rows, RowChange change) throws Exception {
        Map<Integer, Long> times = new HashMap<>();
        VariableWidthColumn key = VariableWidthColumn.of(SCHEMA, KEY_BYTES);
        rows.toChunks(
                0,
                3,
                change,
                chunk -> {
                    for (int row = 0; row < chunk.rowCount(); row++) {
                        String text = new String(key.copy(chunk, row), StandardCharsets.US_ASCII);
                        assertThat(chunk.getInt(1, row)).isEqualTo(change.code());
                        times.put(Integer.valueOf(text), chunk.getLong(TIME, row));
                    }
                });
        assertThat(times).hasSize(rows.size());
        return times;
    }
}
