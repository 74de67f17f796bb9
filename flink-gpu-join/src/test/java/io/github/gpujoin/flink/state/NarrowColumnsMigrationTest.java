// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkCursor;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.testing.ChunkSamples;
import io.github.gpujoin.core.layout.testing.TestChunks;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Facts with bytes and shorts, of which earlier snapshots have columns of 4 bytes. */
class NarrowColumnsMigrationTest {

    private static final ChunkSchema EARLIER =
            ChunkSchema.of(
                    Column.of("key", ColumnType.INT32),
                    Column.of("count", ColumnType.INT32),
                    Column.of("price", ColumnType.INT64),
                    Column.nullable("maybe_byte", ColumnType.INT32),
                    Column.nullable("maybe_short", ColumnType.INT32));

    private static final ChunkSchema NOW =
            ChunkSchema.of(
                    Column.of("key", ColumnType.INT8),
                    Column.of("count", ColumnType.INT16),
                    Column.of("price", ColumnType.INT64),
                    Column.nullable("maybe_byte", ColumnType.INT8),
                    Column.nullable("maybe_short", ColumnType.INT16));

    private static final Object[][] ROWS = {
        {(byte) -128, (short) -32768, -1L, (byte) -1, (short) -300},
        {(byte) 127, (short) 32767, Long.MAX_VALUE, null, (short) 300},
        {(byte) 0, (short) -2, 0L, (byte) 100, null}
    };

    private static JoinColumns columns() {
        ChunkSchema keys = ChunkSchema.of(Column.of("id", ColumnType.INT16));
        DimensionSpec shops = new DimensionSpec("shops", keys, 0, 0, JoinKind.INNER);
        return JoinColumns.of(new JoinSpec(NOW, List.of(shops)));
    }

    private static ChunkMigration migration(int version) throws Exception {
        byte[] saved = columns().toBytes();
        ByteBuffer.wrap(saved).putInt(version);
        return ChunkMigration.of(
                SavedColumns.of(saved),
                columns(),
                Set.of(),
                NarrowColumnsMigrationTest.class.getClassLoader());
    }

    @Test
    void shouldRestoreColumnsOf4BytesFromEarlierSnapshots() throws Exception {
        byte[] facts = TestChunks.of(EARLIER, ChunkDescriptor.FACTS, List.of(ROWS)).bytes();

        ChunkMigration migration = migration(JoinColumns.VERSION_WITHOUT_NARROW_COLUMNS);
        Chunk migrated = Chunk.wrap(NOW, migration.migrate(facts));

        ChunkCursor cursor = new ChunkCursor(NOW);
        for (int row = 0; row < ROWS.length; row++) {
            assertThat(ChunkSamples.values(cursor.at(migrated, row))).isEqualTo(ROWS[row]);
        }
    }

    @Test
    void shouldLeaveChunksOfThisVersionAsTheyAre() throws Exception {
        assertThat(migration(JoinColumns.VERSION).isNone()).isTrue();
    }
}
