// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.engine.testing;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.testing.TestChunks;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;

/**
 * A random star join and its data, reproducible from a seed. It has one to four dimensions of any
 * kind; keys of all widths; duplicate, missing, negative, extreme, sparse and null keys; one key in
 * all rows; empty tables, empty chunks and chunks of one row; fixed-width payloads and
 * variable-width ones with nulls; optionally filters and an aggregation.
 */
public record RandomJoinData(JoinSpec spec, List<BuildChunk> builds, List<Chunk> probes) {

    /** A chunk and the number of its dimension. */
    public record BuildChunk(int dimension, Chunk chunk) {}

    private static final String NULL_KEYS = "null_keys";

    /** How the keys of a dimension are drawn. */
    private enum Keys {
        DENSE,
        SPARSE,
        EXTREME,
        ONE
    }

    private static final long[] EXTREMES = {
        Long.MIN_VALUE,
        Long.MIN_VALUE + 1,
        Integer.MIN_VALUE - 1L,
        Integer.MIN_VALUE,
        -(1L << 32),
        Short.MIN_VALUE,
        Byte.MIN_VALUE,
        -1,
        0,
        1,
        Byte.MAX_VALUE,
        Byte.MAX_VALUE + 1L,
        Short.MAX_VALUE + 1L,
        Integer.MAX_VALUE,
        Integer.MAX_VALUE + 1L,
        1L << 32,
        Long.MAX_VALUE - 1,
        Long.MAX_VALUE
    };

    private static final List<ColumnType> FIXED =
            Arrays.stream(ColumnType.values()).filter(ColumnType::isFixedWidth).toList();

    private static final List<ColumnType> INTEGERS =
            FIXED.stream().filter(ColumnType::isInteger).toList();

    /** Of more distinct keys, too many would be equal after truncation to INT8. */
    private static final int MAX_INT8_KEYS = 100;

    /** Returns data of tens of rows for each input, small enough for {@link NestedLoopJoin}. */
    public static RandomJoinData small(long seed) {
        return small(seed, EnumSet.allOf(JoinKind.class));
    }

    /**
     * Like {@link #small(long)} with some kinds. Null keys occur only if unmatched facts are kept.
     */
    public static RandomJoinData small(long seed, Set<JoinKind> kinds) {
        return new Generator(seed, kinds, 12, 40, 12).generate();
    }

    /** Returns data of thousands of rows for each input. */
    public static RandomJoinData large(long seed) {
        return large(seed, EnumSet.allOf(JoinKind.class));
    }

    /**
     * Like {@link #large(long)} with some kinds. Null keys occur only if unmatched facts are kept.
     */
    public static RandomJoinData large(long seed, Set<JoinKind> kinds) {
        return new Generator(seed, kinds, 4_000, 20_000, 3_000).generate();
    }

    /** Returns the same data with filters, which about half of the facts pass. */
    public RandomJoinData withFilters(long seed) {
        return new SpecGenerator(this, new Random(seed)).filtered();
    }

    /** Returns the same data with an aggregation, with or without filters. */
    public RandomJoinData aggregated(long seed) {
        Random random = new Random(seed);
        RandomJoinData data = random.nextBoolean() ? withFilters(random.nextLong()) : this;
        return new SpecGenerator(data, random).aggregated();
    }

    public RandomJoinData with(JoinSpec other) {
        return new RandomJoinData(other, builds, probes);
    }

    private static final class Generator {
        private final Random random;
        private final List<JoinKind> kinds;
        private final int distinctKeys;
        private final int probeRows;
        private final int maxChunkRows;
        private final List<Column> factColumns = new ArrayList<>();
        private final List<DimensionSpec> dimensions = new ArrayList<>();
        private final List<long[]> keys = new ArrayList<>();

        Generator(
                long seed, Set<JoinKind> kinds, int distinctKeys, int probeRows, int maxChunkRows) {
            this.random = new Random(seed);
            this.kinds = List.copyOf(EnumSet.copyOf(kinds));
            this.distinctKeys = distinctKeys;
            this.probeRows = probeRows;
            this.maxChunkRows = maxChunkRows;
        }

        RandomJoinData generate() {
            int count = 1 + random.nextInt(4);
            for (int d = 0; d < count; d++) {
                keys.add(keys(Keys.values()[random.nextInt(Keys.values().length)]));
                factColumns.add(Column.of("fact_key_" + d, keyType(d)));
            }
            factColumns.add(Column.of("measure", ColumnType.INT64));
            factColumns.add(Column.of("few_values", oneOf(INTEGERS)));
            if (random.nextBoolean()) {
                factColumns.add(Column.nullable("note", ColumnType.STRING));
            }
            for (int d = 0; d < count; d++) {
                dimensions.add(dimension(d));
            }
            int nullKeysColumn = JoinSpec.NO_NULL_KEYS;
            if (kinds.stream().anyMatch(JoinKind::keepsUnmatched) && random.nextBoolean()) {
                nullKeysColumn = factColumns.size();
                factColumns.add(Column.of(NULL_KEYS, ColumnType.INT32));
            }
            JoinSpec spec =
                    new JoinSpec(
                            ChunkSchema.of(factColumns),
                            dimensions,
                            List.of(),
                            null,
                            nullKeysColumn);
            List<BuildChunk> builds = new ArrayList<>();
            for (int d = 0; d < count; d++) {
                for (Chunk chunk : buildChunks(d)) {
                    builds.add(new BuildChunk(d, chunk));
                }
            }
            return new RandomJoinData(spec, builds, probeChunks(spec));
        }

        private DimensionSpec dimension(int d) {
            List<Column> columns = new ArrayList<>();
            for (int i = random.nextInt(6); i > 0; i--) {
                columns.add(Column.of("fixed_" + i, oneOf(FIXED)));
            }
            for (int i = random.nextInt(3); i > 0; i--) {
                ColumnType type = ColumnType.values()[random.nextInt(ColumnType.values().length)];
                columns.add(Column.nullable("variable_width_" + i, type));
            }
            if (random.nextBoolean()) {
                columns.add(Column.of("few_values", oneOf(INTEGERS)));
            }
            int keyColumn = random.nextInt(columns.size() + 1);
            columns.add(keyColumn, Column.of("key", keyType(d)));
            JoinKind kind =
                    random.nextBoolean() ? JoinKind.INNER : kinds.get(random.nextInt(kinds.size()));
            return new DimensionSpec("dimension-" + d, ChunkSchema.of(columns), keyColumn, d, kind);
        }

        private ColumnType keyType(int d) {
            ColumnType type = oneOf(INTEGERS);
            boolean isTooNarrow = type == ColumnType.INT8 && keys.get(d).length > MAX_INT8_KEYS;
            return isTooNarrow ? ColumnType.INT16 : type;
        }

        private <T> T oneOf(List<T> values) {
            return values.get(random.nextInt(values.size()));
        }

        private long[] keys(Keys pattern) {
            return switch (pattern) {
                case DENSE -> random.longs(distinctKeys, -distinctKeys, distinctKeys).toArray();
                case SPARSE -> random.longs(distinctKeys).toArray();
                case EXTREME -> EXTREMES;
                case ONE -> new long[] {random.nextInt()};
            };
        }

        private List<Chunk> buildChunks(int d) {
            DimensionSpec side = dimensions.get(d);
            long[] domain = keys.get(d);
            int rows = random.nextInt(8) == 0 ? 0 : 2 + domain.length * 3 / 2;
            int known = Math.max(1, domain.length * 3 / 4);
            List<Object[]> table = new ArrayList<>();
            for (int i = 0; i < rows; i++) {
                Object[] row = randomRow(side.schema());
                ColumnType type = side.schema().column(side.keyColumn()).type();
                row[side.keyColumn()] = key(type, domain[random.nextInt(known)]);
                table.add(row);
            }
            return chunks(side.schema(), d, table);
        }

        private List<Chunk> probeChunks(JoinSpec spec) {
            List<Object[]> facts = new ArrayList<>();
            for (int i = 0; i < probeRows; i++) {
                Object[] row = randomRow(spec.factSchema());
                for (int d = 0; d < keys.size(); d++) {
                    long[] domain = keys.get(d);
                    int unused = domain.length / 8;
                    long key = domain[unused + random.nextInt(domain.length - unused)];
                    row[d] = key(spec.factSchema().column(d).type(), key);
                }
                facts.add(row);
            }
            return chunks(spec.factSchema(), ChunkDescriptor.FACTS, facts);
        }

        /** Truncates a key that does not fit; it must not match the whole key. */
        private static Number key(ColumnType type, long key) {
            return switch (type) {
                case INT8 -> (byte) key;
                case INT16 -> (short) key;
                case INT32 -> (int) key;
                default -> key;
            };
        }

        private Object[] randomRow(ChunkSchema schema) {
            return schema.columns().stream().map(this::randomValue).toArray();
        }

        private Object randomValue(Column column) {
            if (column.nullable() && random.nextInt(4) == 0) {
                return null;
            }
            if (column.name().equals("few_values")) {
                return key(column.type(), random.nextInt(-2, 3));
            }
            if (column.name().equals(NULL_KEYS)) {
                // each bit in a quarter of the rows, also of dimensions that are not
                return random.nextInt() & random.nextInt();
            }
            return switch (column.type()) {
                case INT8 -> (byte) random.nextInt();
                case INT16 -> (short) random.nextInt();
                case INT32 -> random.nextInt();
                case INT64 -> random.nextLong();
                case FLOAT32 -> random.nextFloat();
                case FLOAT64 -> random.nextGaussian();
                case STRING -> "ü€𝄞".repeat(random.nextInt(3)) + random.nextInt(100);
                case BYTES -> {
                    byte[] bytes = new byte[random.nextInt(20)];
                    random.nextBytes(bytes);
                    yield bytes;
                }
            };
        }

        private List<Chunk> chunks(ChunkSchema schema, int dimension, List<Object[]> rows) {
            List<Chunk> chunks = new ArrayList<>();
            for (int from = 0; from < rows.size() || chunks.isEmpty(); ) {
                int size =
                        random.nextInt(4) == 0 ? random.nextInt(2) : random.nextInt(maxChunkRows);
                int to = Math.min(rows.size(), from + size);
                chunks.add(TestChunks.of(schema, dimension, rows.subList(from, to)));
                from = to;
            }
            return chunks;
        }
    }
}
