// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Region;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class TuplesTest {

    private static final int BUILD_ROWS = 40_000;
    private static final long PROBE_ROWS = 100_000;
    private static final long SEED = 7;

    private final Tuples tuples = Tuples.generate(BUILD_ROWS, PROBE_ROWS, KeyDomain.DENSE, SEED);

    @ParameterizedTest
    @EnumSource(KeyDomain.class)
    void shouldExpectWhatAHashMapJoins(KeyDomain domain) {
        Tuples drawn = Tuples.generate(BUILD_ROWS, PROBE_ROWS, domain, SEED);
        Map<Long, Long> payloads = new HashMap<>();
        for (Chunk chunk : drawn.build()) {
            for (int row = 0; row < chunk.rowCount(); row++) {
                assertThat(payloads.put(chunk.getLong(0, row), chunk.getLong(1, row))).isNull();
            }
        }
        for (int chunks = 1; chunks <= drawn.probe().size(); chunks++) {
            assertThat(join(payloads, drawn.probe().subList(0, chunks)))
                    .isEqualTo(drawn.expected(chunks));
        }
    }

    private static JoinAnswer join(Map<Long, Long> payloads, List<Chunk> chunks) {
        long count = 0;
        long sum = 0;
        for (Chunk chunk : chunks) {
            for (int row = 0; row < chunk.rowCount(); row++) {
                sum += payloads.get(chunk.getLong(0, row)) + chunk.getLong(1, row);
                count++;
            }
        }
        return new JoinAnswer(count, sum);
    }

    @Test
    void shouldRepeatProbeTuplesAndTheirAnswers() {
        int chunks = tuples.probe().size();
        Tuples twice = tuples.repeated(2);
        assertThat(twice.probe()).hasSize(2 * chunks).startsWith(tuples.probe().get(0));
        assertThat(twice.expected(2 * chunks))
                .isEqualTo(tuples.expected(chunks).plus(tuples.expected(chunks)));
    }

    @Test
    void shouldCopyProbeTuplesAndPrimesToSlots() {
        long openBefore = Region.openCount();
        Tuples inSlots = tuples.inSlots(1);
        List<Chunk> probe = inSlots.probe();
        Chunk prime = inSlots.asProbe(tuples.build().get(0));

        assertThat(probe).hasSameSizeAs(tuples.probe()).allMatch(chunk -> chunk.slot() != null);
        for (int i = 0; i < probe.size(); i++) {
            assertThat(probe.get(i).bytes()).isEqualTo(tuples.probe().get(i).bytes());
        }
        assertThat(prime.slot().region()).isSameAs(probe.get(0).slot().region());
        assertThat(inSlots.asProbe(tuples.build().get(1)).slot()).isNull();
        inSlots.close();
        assertThat(Region.openCount()).isEqualTo(openBefore);
    }

    @Test
    void shouldHoldExactlyTheRowsAskedFor() {
        assertThat(tuples.buildRows()).isEqualTo(BUILD_ROWS);
        assertThat(Tuples.rowCount(tuples.probe())).isEqualTo(PROBE_ROWS);
        assertThat(tuples.probe()).allMatch(chunk -> chunk.rowCount() <= Tuples.CHUNK_ROWS);
    }

    @Test
    void shouldRepeatForTheSameSeedAndDifferForAnother() {
        byte[] again = probeBytes(SEED);
        assertThat(again).isEqualTo(tuples.probe().get(0).bytes());
        assertThat(probeBytes(SEED + 1)).isNotEqualTo(again);
    }

    private static byte[] probeBytes(long seed) {
        return Tuples.generate(BUILD_ROWS, PROBE_ROWS, KeyDomain.DENSE, seed)
                .probe()
                .get(0)
                .bytes();
    }

    @Test
    void shouldShuffleDenseKeysWithoutLosingOne() {
        List<Long> keys = new ArrayList<>();
        for (Chunk chunk : tuples.build()) {
            for (int row = 0; row < chunk.rowCount(); row++) {
                keys.add(chunk.getLong(0, row));
            }
        }
        assertThat(keys).isNotEqualTo(keys.stream().sorted().toList());
        assertThat(keys.stream().sorted().toList())
                .containsExactlyElementsOf(LongStream.range(0, BUILD_ROWS).boxed().toList());
    }

    @ParameterizedTest
    @CsvSource({"1, 1", "16384, 1", "16385, 2", "100000, 7", "9223372036854775807, 7"})
    void shouldTakeTheFewestChunksThatHoldTheRows(long rows, int chunks) {
        assertThat(tuples.probe(rows)).hasSize(chunks);
    }

    @ParameterizedTest
    @CsvSource({"1", "2", "3", "8"})
    void shouldShareEachChunkOnce(int shares) {
        Set<Chunk> seen = new HashSet<>();
        for (int share = 0; share < shares; share++) {
            assertThat(Tuples.share(tuples.probe(), share, shares)).allMatch(seen::add);
        }
        assertThat(seen).hasSameSizeAs(tuples.probe());
    }

    @Test
    void shouldRejectEmptyRelations() {
        assertThatThrownBy(() -> Tuples.generate(0, 1, KeyDomain.DENSE, SEED))
                .hasMessage("Invalid number of build rows: buildRows=0");
        assertThatThrownBy(() -> Tuples.generate(1, 0, KeyDomain.DENSE, SEED))
                .hasMessage("No probe rows: probeRows=0");
    }
}
