// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.engine.ValueRanges;
import io.github.gpujoin.core.filter.KeyFilterBuilder;
import io.github.gpujoin.core.filter.LongCondition;
import io.github.gpujoin.core.filter.RangeCondition;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.api.source.ColumnCondition;
import io.github.gpujoin.flink.api.source.ColumnarPosition;
import io.github.gpujoin.flink.api.source.ColumnarReader;
import io.github.gpujoin.formats.testing.FormatRows;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares what is read under conditions with what meets them among all rows. */
class TextConditionsTest {

    private static final int ROWS = 30_000;

    private static final List<TextColumn> COLUMNS =
            List.of(
                    TextColumn.of("id", TextType.INT64),
                    TextColumn.of("key", TextType.INT32),
                    TextColumn.decimal("price", 2),
                    TextColumn.of("text", TextType.TEXT),
                    TextColumn.of("rare", TextType.INT64).asNullable());

    @TempDir private Path folder;
    private Path file;

    private static TextFormat format() {
        return TextFormat.csv(COLUMNS.toArray(TextColumn[]::new)).withoutHeader();
    }

    private void write(Random random) throws IOException {
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < ROWS; i++) {
            String quote = random.nextInt(4) == 0 ? "\"" : "";
            lines.add(
                    "%d,%s%d%s,%d.%02d,text %d,%s"
                            .formatted(
                                    i,
                                    quote,
                                    random.nextInt(1_000) - 500,
                                    quote,
                                    random.nextInt(50),
                                    random.nextInt(100),
                                    random.nextInt(9),
                                    random.nextInt(3) == 0 ? "" : random.nextInt(100)));
        }
        file = folder.resolve("t.csv");
        Files.write(file, lines);
    }

    private static LongCondition keys(Random random) {
        KeyFilterBuilder builder = new KeyFilterBuilder(1 << 16);
        for (int i = 0; i < 100; i++) {
            builder.add(random.nextInt(1_000) - 500);
        }
        return builder.build().orElseThrow();
    }

    private static List<ColumnCondition> conditions(Random random) {
        List<ColumnCondition> all =
                new ArrayList<>(
                        List.of(
                                new ColumnCondition("key", keys(random)),
                                new ColumnCondition("key", keys(random)),
                                new ColumnCondition("price", between(500, 3_000)),
                                new ColumnCondition("id", between(5_000, 25_000)),
                                new ColumnCondition("rare", between(10, 80))));
        Collections.shuffle(all, random);
        return List.copyOf(all.subList(0, 1 + random.nextInt(all.size())));
    }

    private static LongCondition between(long from, long to) {
        return new RangeCondition(ValueRanges.between(from, to));
    }

    private static List<List<@Nullable Object>> meeting(
            List<ColumnCondition> conditions,
            List<List<@Nullable Object>> rows,
            TextFormat format) {
        return rows.stream()
                .filter(
                        row ->
                                conditions.stream()
                                        .allMatch(
                                                c ->
                                                        row.get(format.schema().require(c.column()))
                                                                        instanceof Long value
                                                                && c.values().mayAccept(value)))
                .toList();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void shouldReadAllRowsThatMeetTheConditionsAlsoAfterRestores(long seed) throws Exception {
        Random random = new Random(seed);
        write(random);
        List<String> order = new ArrayList<>(List.of("id", "key", "price", "text", "rare"));
        Collections.shuffle(order, random);
        TextFormat format =
                format().select(order.toArray(String[]::new))
                        .chunkBytes(1 << 4 + random.nextInt(14));
        List<ColumnCondition> conditions = conditions(random);
        List<List<@Nullable Object>> read = new ArrayList<>();
        ColumnarPosition position = ColumnarPosition.START;
        long skipped = 0;
        for (boolean ended = false; !ended; ) {
            List<List<ColumnCondition>> known = new ArrayList<>(List.of(List.of()));
            try (ColumnarReader reader =
                    format.open(
                            FormatRows.whole(file), position, () -> known.get(known.size() - 1))) {
                known.add(random.nextInt(3) == 0 ? List.of() : conditions);
                for (int left = 1 + random.nextInt(500); left > 0 && !ended; left--) {
                    Chunk chunk = reader.read();
                    if (chunk == null) {
                        ended = true;
                    } else {
                        FormatRows.addRows(chunk, read);
                        position = reader.position();
                    }
                }
                skipped += reader.rowsSkipped();
            }
        }
        assertThat(read.stream().map(row -> row.get(format.schema().require("id"))))
                .doesNotHaveDuplicates();
        assertThat(meeting(conditions, read, format))
                .as("seed=%d, conditions=%s", seed, conditions)
                .isEqualTo(meeting(conditions, FormatRows.read(format, file), format));
        assertThat(read.size() + skipped).isEqualTo(ROWS);
    }

    @Test
    void shouldReturnNowAndThenWhileNoLineMatches() throws Exception {
        write(new Random(1));
        List<String> lines = Files.readAllLines(file);
        Files.write(file, Collections.nCopies(5, lines).stream().flatMap(List::stream).toList());
        List<ColumnCondition> none = List.of(new ColumnCondition("key", between(9_000, 9_001)));
        int chunks = 0;
        try (ColumnarReader reader =
                format().open(FormatRows.whole(file), ColumnarPosition.START, () -> none)) {
            for (Chunk chunk = reader.read(); chunk != null; chunk = reader.read()) {
                assertThat(chunk.rowCount()).isZero();
                chunks++;
            }
            assertThat(reader.rowsSkipped()).isEqualTo(5 * ROWS);
        }
        assertThat(chunks).isEqualTo(2);
    }

    @Test
    void shouldRejectAMalformedFieldThatAConditionTests() throws Exception {
        file = folder.resolve("bad.csv");
        Files.write(file, Arrays.asList("1,5,1.00,a,", "2,x,1.00,a,", "3,5,1.00,a,"));
        List<ColumnCondition> conditions = List.of(new ColumnCondition("key", between(5, 5)));
        assertThatThrownBy(
                        () -> {
                            try (ColumnarReader reader =
                                    format().open(
                                                    FormatRows.whole(file),
                                                    ColumnarPosition.START,
                                                    () -> conditions)) {
                                reader.read();
                            }
                        })
                .isInstanceOf(IOException.class)
                .hasMessageContaining("bad.csv")
                .hasMessageContaining("line=2")
                .hasMessageContaining("column=key");
    }
}
