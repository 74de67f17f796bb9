// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.flink.metrics.HeavyHitterSketch.HeavyKey;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.LongUnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HeavyHitterSketchTest {

    private static final int CHUNK_ROWS = 10_007;
    private static final int CHUNKS = 400;
    private static final ChunkSchema FACTS =
            ChunkSchema.of(
                    Column.of("key", ColumnType.INT64), Column.of("nulls", ColumnType.INT32));
    private static final ChunkSchema DIMENSION =
            ChunkSchema.of(Column.of("id", ColumnType.INT64), Column.of("value", ColumnType.INT32));

    private static JoinSpec spec(int nullKeysColumn) {
        DimensionSpec dimension = new DimensionSpec("shop", DIMENSION, 0, 0, JoinKind.LEFT);
        return new JoinSpec(FACTS, List.of(dimension), List.of(), null, nullKeysColumn);
    }

    /** Chunks of consecutive rows, whose keys the function gives. */
    private static Chunk chunk(ChunkSchema schema, int number, LongUnaryOperator key, int second) {
        ChunkBuilder builder = new ChunkBuilder(schema, CHUNK_ROWS * 16);
        for (long row = 0; row < CHUNK_ROWS; row++) {
            builder.putLong(0, key.applyAsLong((long) number * CHUNK_ROWS + row));
            builder.putInt(1, second);
            builder.endRow();
        }
        int dimension = schema == FACTS ? ChunkDescriptor.FACTS : 0;
        return builder.seal(dimension, ChunkDescriptor.UNPARTITIONED, 0, number);
    }

    private static HeavyHitterSketch facts(JoinSpec spec, LongUnaryOperator key, int nulls) {
        HeavyHitterSketch keys = new HeavyHitterSketch(spec);
        for (int i = 0; i < CHUNKS; i++) {
            keys.addFacts(chunk(FACTS, i, key, nulls));
        }
        return keys;
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldEstimateTheShareOfHeavyKeysWithinFourStandardErrors(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        HeavyHitterSketch keys =
                facts(
                        spec(JoinSpec.NO_NULL_KEYS),
                        row -> {
                            int draw = random.nextInt(100);
                            return draw < 20 ? -7 : draw < 30 ? 1L << 40 : random.nextLong();
                        },
                        0);
        List<HeavyKey> heavyHitters = keys.heavyHitters().get("shop");
        assertThat(heavyHitters).extracting(HeavyKey::key).containsExactly(-7L, 1L << 40);
        double error =
                4 * Math.sqrt(0.2 * 0.8 / ((double) CHUNKS * CHUNK_ROWS / HeavyHitterSketch.STRIDE))
                        + 0.0035;
        assertThat(heavyHitters.get(0).share()).isCloseTo(0.2, within(error));
        assertThat(heavyHitters.get(1).share()).isCloseTo(0.1, within(error));
        assertThat(keys.largestShare()).isCloseTo(0.2, within(2 * error));
    }

    @Test
    void shouldSeeKeysThatComeInAnyPeriod() {
        // Every row number is seen, whatever it is modulo 8, 50 or the rows of a chunk.
        HeavyHitterSketch keys =
                facts(spec(JoinSpec.NO_NULL_KEYS), row -> row % 50 == 49 ? 5 : row, 0);
        assertThat(keys.heavyHitters().get("shop")).extracting(HeavyKey::key).containsExactly(5L);
    }

    @Test
    void shouldNameNoKeyWhereAllAreRare() {
        assertThat(facts(spec(JoinSpec.NO_NULL_KEYS), row -> row, 0).heavyHitters()).isEmpty();
    }

    @Test
    void shouldNotTakeWhatStandsInForNullAsAKey() {
        assertThat(facts(spec(1), row -> 0, 1).heavyHitters()).isEmpty();
        assertThat(facts(spec(1), row -> 0, 0).heavyHitters()).isNotEmpty();
    }

    @Test
    void shouldCountBuildRowsByTheKeyOfTheirDimension() {
        HeavyHitterSketch keys = new HeavyHitterSketch(spec(JoinSpec.NO_NULL_KEYS));
        for (int i = 0; i < 40; i++) {
            keys.addBuild(chunk(DIMENSION, i, row -> row % 2 == 0 ? 3 : row, 0));
        }
        Map<String, List<HeavyKey>> heavyHitters = keys.heavyHitters();
        assertThat(heavyHitters.get("shop")).hasSize(1);
        assertThat(heavyHitters.toString()).startsWith("{shop=[3 (").endsWith(" %)]}");
    }
}
