// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.bulk.testing;

import io.github.gpujoin.core.bulk.BulkInput;
import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.bulk.BulkOutput;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.engine.Aggregate;
import io.github.gpujoin.core.engine.Aggregation;
import io.github.gpujoin.core.engine.JoinColumn;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.testing.TestChunks;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A random bulk join and its data, reproducible from a seed: keys of one shape that repeat on both
 * sides, are missing on one, or are null; a key that a third of the rows has; empty inputs, empty
 * chunks and chunks of one row; payloads of all types, null ones too.
 */
public record RandomBulkData(BulkJoinSpec spec, List<Chunk> left, List<Chunk> right) {

    /** Forms of the output. */
    public enum Output {
        COUNT,
        ROWS,
        GROUPS
    }

    /** Returns inputs of tens of rows. */
    public static RandomBulkData small(long seed, BulkJoinKind kind, KeyShape keys, Output output) {
        Random random = new Random(seed);
        return new Generator(random, keys, 1 + random.nextInt(12), 40, 12).generate(kind, output);
    }

    /** Returns inputs of thousands of rows, the left or the right one larger. */
    public static RandomBulkData large(long seed, BulkJoinKind kind, KeyShape keys, Output output) {
        Random random = new Random(seed);
        return new Generator(random, keys, 4_000, 9_000, 3_000).generate(kind, output);
    }

    private static final class Generator {

        private static final int MEASURE = 0;
        private static final int FEW_VALUES = 1;

        private final Random random;
        private final KeyShape keys;
        private final int distinctKeys;
        private final int maxRows;
        private final int maxChunkRows;

        Generator(Random random, KeyShape keys, int distinctKeys, int maxRows, int maxChunkRows) {
            this.random = random;
            this.keys = keys;
            this.distinctKeys = distinctKeys;
            this.maxRows = maxRows;
            this.maxChunkRows = maxChunkRows;
        }

        RandomBulkData generate(BulkJoinKind kind, Output output) {
            BulkInput left = input("left", keys.left());
            BulkInput right = input("right", keys.right());
            Set<Integer> keysWithEqualNulls =
                    IntStream.range(0, left.keyColumns().size())
                            .filter(key -> random.nextBoolean())
                            .boxed()
                            .collect(Collectors.toSet());
            BulkJoinSpec spec =
                    new BulkJoinSpec(
                            left, right, kind, keysWithEqualNulls, output(output, kind, left));
            boolean isLeftLarger = random.nextBoolean();
            return new RandomBulkData(
                    spec,
                    chunks(left, isLeftLarger ? maxRows : maxRows / 3),
                    chunks(right, isLeftLarger ? maxRows / 3 : maxRows));
        }

        /** Payload columns first, then the keys, then more payload columns. */
        private BulkInput input(String name, List<Column> keyColumns) {
            List<Column> columns = new ArrayList<>();
            columns.add(Column.of("measure", ColumnType.INT64));
            columns.add(
                    Column.of(
                            "few_values",
                            random.nextBoolean() ? ColumnType.INT8 : ColumnType.INT32));
            if (random.nextBoolean()) {
                columns.add(Column.nullable("note", ColumnType.STRING));
            }
            List<Integer> keyIndexes =
                    IntStream.range(0, keyColumns.size())
                            .map(i -> i + columns.size())
                            .boxed()
                            .toList();
            columns.addAll(keyColumns);
            if (random.nextBoolean()) {
                columns.add(Column.of("ratio", ColumnType.FLOAT32));
                columns.add(Column.of("small", ColumnType.INT16));
            }
            if (random.nextBoolean()) {
                columns.add(Column.nullable("number", ColumnType.INT32));
            }
            return new BulkInput(name, ChunkSchema.of(columns), keyIndexes);
        }

        private BulkOutput output(Output output, BulkJoinKind kind, BulkInput left) {
            return switch (output) {
                case COUNT -> new BulkOutput.Count();
                case ROWS ->
                        new BulkOutput.Rows(
                                someColumns(left.schema().size()),
                                kind.returns(JoinSide.RIGHT) ? someColumns(3) : List.of());
                case GROUPS -> new BulkOutput.Groups(aggregation(kind));
            };
        }

        /** Returns columns in a random order; all of them in a third of the cases. */
        private List<Integer> someColumns(int count) {
            List<Integer> columns = new ArrayList<>(IntStream.range(0, count).boxed().toList());
            Collections.shuffle(columns, random);
            return random.nextInt(3) == 0
                    ? columns
                    : List.copyOf(columns.subList(0, random.nextInt(count + 1)));
        }

        private Aggregation aggregation(BulkJoinKind kind) {
            List<JoinColumn> groups = new ArrayList<>();
            List<Aggregate> aggregates = new ArrayList<>(List.of(Aggregate.count()));
            List<JoinColumn> measures = new ArrayList<>();
            for (JoinSide side : JoinSide.values()) {
                if (kind.returns(side) && !kind.keepsUnmatched(side.other())) {
                    if (random.nextBoolean()) {
                        groups.add(new JoinColumn(side.ordinal(), FEW_VALUES));
                    }
                    measures.add(new JoinColumn(side.ordinal(), MEASURE));
                }
            }
            measures.forEach(column -> aggregates.add(Aggregate.sum(column)));
            if (measures.size() == 2) {
                aggregates.add(Aggregate.sumOfProduct(measures.get(0), measures.get(1)));
            }
            return new Aggregation(groups, aggregates, 1 + random.nextInt(8));
        }

        private List<Chunk> chunks(BulkInput input, int mostRows) {
            int rowCount = random.nextInt(8) == 0 ? 0 : mostRows / 2 + random.nextInt(mostRows / 2);
            List<Object[]> rows = new ArrayList<>();
            for (int i = 0; i < rowCount; i++) {
                rows.add(row(input));
            }
            List<Chunk> chunks = new ArrayList<>();
            for (int from = 0; from < rows.size() || chunks.isEmpty(); ) {
                int size =
                        random.nextInt(4) == 0 ? random.nextInt(2) : random.nextInt(maxChunkRows);
                int to = Math.min(rows.size(), from + size);
                chunks.add(
                        TestChunks.of(
                                input.schema(), ChunkDescriptor.FACTS, rows.subList(from, to)));
                from = to;
            }
            return chunks;
        }

        /** Draws from the lower or the upper three quarters of the keys, by input. */
        private Object[] row(BulkInput input) {
            int missing = distinctKeys / 4;
            int known = distinctKeys - missing;
            int number = random.nextInt(known) + (input.name().equals("left") ? 0 : missing);
            int key = random.nextInt(3) == 0 && maxRows < 100 ? missing : number;
            Object[] row = new Object[input.schema().size()];
            for (int column = 0; column < row.length; column++) {
                int place = input.keyColumns().indexOf(column);
                Column described = input.schema().column(column);
                row[column] =
                        place >= 0
                                ? keyValue(described, key * (place + 1L) - 5)
                                : payload(described);
            }
            return row;
        }

        private Object keyValue(Column column, long value) {
            if (column.nullable() && random.nextInt(5) == 0) {
                return null;
            }
            return switch (column.type()) {
                case STRING -> "k".repeat((int) (value & 3)) + (value >> 2);
                case BYTES -> Long.toString(value).getBytes(StandardCharsets.UTF_8);
                case INT64 -> value % 2 == 0 ? value << 40 : value;
                default -> value;
            };
        }

        private Object payload(Column column) {
            if (column.nullable() && random.nextInt(4) == 0) {
                return null;
            }
            return switch (column.type()) {
                case FLOAT32 -> random.nextFloat();
                case STRING -> "ü€𝄞".repeat(random.nextInt(3)) + random.nextInt(100);
                case INT64 -> random.nextLong();
                default ->
                        column.name().equals("few_values")
                                ? random.nextInt(-2, 3)
                                : random.nextInt();
            };
        }
    }
}
