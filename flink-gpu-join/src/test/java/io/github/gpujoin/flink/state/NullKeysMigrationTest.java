// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.flink.record.RecordLayout;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Facts of a left join whose key field was primitive in the snapshot and is boxed now. */
class NullKeysMigrationTest {

    private static final ChunkSchema KEYS = ChunkSchema.of(Column.of("key", ColumnType.INT64));
    private static final ChunkSchema PRIMITIVE =
            ChunkSchema.of(
                    Column.of("key", ColumnType.INT64),
                    Column.of(RecordLayout.TIMESTAMP, ColumnType.INT64));
    private static final ChunkSchema BOXED =
            ChunkSchema.of(
                    Column.of("key", ColumnType.INT64),
                    Column.of(RecordLayout.NULL_KEYS, ColumnType.INT32),
                    Column.of(RecordLayout.TIMESTAMP, ColumnType.INT64));

    private static JoinColumns columns(ChunkSchema facts) {
        DimensionSpec shops = new DimensionSpec("shops", KEYS, 0, 0, JoinKind.LEFT);
        return JoinColumns.of(new JoinSpec(facts, List.of(shops)));
    }

    private static ChunkMigration migration(ChunkSchema from, ChunkSchema to) throws Exception {
        return ChunkMigration.of(
                SavedColumns.of(columns(from).toBytes()),
                columns(to),
                Set.of(),
                NullKeysMigrationTest.class.getClassLoader());
    }

    @Test
    void shouldAddNullKeysToFactsWhoseKeyIsBoxedNow() throws Exception {
        ChunkBuilder builder = new ChunkBuilder(PRIMITIVE, 1 << 10);
        for (int row = 0; row < 3; row++) {
            builder.putLong(0, 10 + row);
            builder.putLong(1, 20 + row);
            builder.endRow();
        }
        byte[] facts = builder.seal(ChunkDescriptor.FACTS, 1, 2, 3).bytes();

        Chunk migrated = Chunk.wrap(BOXED, migration(PRIMITIVE, BOXED).migrate(facts));

        assertThat(migrated.rowCount()).isEqualTo(3);
        for (int row = 0; row < 3; row++) {
            assertThat(migrated.getLong(0, row)).isEqualTo(10 + row);
            assertThat(migrated.getInt(1, row)).isZero();
            assertThat(migrated.getLong(2, row)).isEqualTo(20 + row);
        }
    }

    @Test
    void shouldRefuseFactsWhoseKeyIsPrimitiveNow() {
        assertThatThrownBy(() -> migration(BOXED, PRIMITIVE))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("join's own columns [$nullKeys, $timestamp]")
                .hasMessageContaining("now have [$timestamp]");
    }
}
