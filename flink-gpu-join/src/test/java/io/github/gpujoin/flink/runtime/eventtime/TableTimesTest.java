// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.eventtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.flink.state.FullKey;
import io.github.gpujoin.flink.state.FullKeys;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.flink.util.function.BiConsumerWithException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TableTimesTest {

    private static final int PARTITIONS = 4;
    private static final int KEYS = 20;
    private static final ChunkSchema SCHEMA =
            ChunkSchema.of(Column.of("key", ColumnType.INT64), Column.of("time", ColumnType.INT64));

    /** The changes of each partition, a row a chunk. */
    private static final class Log implements EventTimeOrder.Target {

        private final Map<Integer, List<Chunk>> changes = new HashMap<>();
        private int readCount;

        void add(int partition, long key, long time) {
            ChunkBuilder row = new ChunkBuilder(SCHEMA, 1);
            row.putLong(0, key);
            row.putLong(1, time);
            row.endRow();
            changes.computeIfAbsent(partition, p -> new ArrayList<>())
                    .add(row.seal(0, partition, 0, 0));
        }

        @Override
        public void forEachChange(
                int partition, BiConsumerWithException<Chunk, Integer, Exception> consumer)
                throws Exception {
            readCount++;
            for (Chunk chunk : changes.getOrDefault(partition, List.of())) {
                consumer.accept(chunk, 0);
            }
        }

        @Override
        public void change(Chunk versions) {}

        @Override
        public void facts(Chunk facts) {}

        @Override
        public void joinedUpTo(long time) {}
    }

    /**
     * The bound has room for no key, for some of a partition, for those of one and of two
     * partitions, and for all.
     */
    @ParameterizedTest(name = "keys={0}")
    @CsvSource({"0, false", "7, false", "25, false", "45, false", "1000, true"})
    void shouldKnowLastTimesWithinTheBound(int keys, boolean readsOnce) throws Exception {
        Random random = new Random(20261128);
        long limitBytes = keys * TableTimes.ENTRY_BYTES;
        Log log = new Log();
        TableTimes times =
                new TableTimes(
                        new FullKeys(SCHEMA, 0, DimensionSpec.EXACT_KEY), 1, log, limitBytes);
        Map<Long, Long> expected = new HashMap<>();
        for (int i = 0; i < 2000; i++) {
            long key = random.nextInt(PARTITIONS * KEYS);
            int partition = (int) (key % PARTITIONS);
            if (random.nextBoolean()) {
                log.add(partition, key, i);
                times.set(partition, FullKey.exact(key), i);
                expected.put(key, (long) i);
            } else {
                assertThat(times.of(partition, FullKey.exact(key)))
                        .isEqualTo(expected.getOrDefault(key, TableTimes.NEVER));
            }
            assertThat(times.usedBytes()).isBetween(0L, limitBytes);
        }
        assertThat(log.readCount == PARTITIONS).isEqualTo(readsOnce);
    }
}
