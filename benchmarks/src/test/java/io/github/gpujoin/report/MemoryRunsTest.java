// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.List;
import org.junit.jupiter.api.Test;

class MemoryRunsTest {

    private static final long MIB = 1 << 20;

    private static JsonNode document(String command) throws Exception {
        String observation =
                "{\"name\":\"taskmanager-memory\",\"values\":{\"transport\":\"%s\",\"seconds\":%d,"
                        + "\"resident_bytes\":%d}}";
        return new ObjectMapper()
                .readTree(
                        "{\"command\":\"%s\",\"observations\":[%s,%s,%s,%s]}"
                                .formatted(
                                        command,
                                        observation.formatted("flink", 0, 300 * MIB),
                                        observation.formatted("flink", 5, 864 * MIB),
                                        observation.formatted("shm", 0, 432 * MIB),
                                        observation.formatted("shm", 5, 400 * MIB)));
    }

    @Test
    void shouldTellThePeakOfEachTransport() throws Exception {
        StringBuilder page = new StringBuilder();
        new MemoryRuns(document("bin/bench memory")).appendTable(page);
        assertThat(page.toString().lines())
                .contains("| flink | 2 | 864 | 50 % |", "| shm | 2 | 432 | 25 % |");
    }

    @Test
    void shouldChartATransportByTheOther() throws Exception {
        Plot expected =
                new Plot(
                                "Resident memory (RSS) of a TaskManager",
                                "s",
                                "MiB",
                                false,
                                List.of("0", "5"))
                        .measured("flink", List.of(300.0, 864.0))
                        .measured("shm", List.of(432.0, 400.0))
                        .limit("process size", List.of(1728.0, 1728.0));
        assertThat(new MemoryRuns(document("bin/bench memory")).all())
                .hasEntrySatisfying(
                        "taskmanager-rss",
                        plot -> assertThat(plot.digest()).isEqualTo(expected.digest()));
    }

    @Test
    void shouldKnowItsRunsByTheirCommand() throws Exception {
        assertThat(MemoryRuns.isOf(document("bin/bench memory --rows 5"))).isTrue();
        assertThat(MemoryRuns.isOf(document("bin/bench soak"))).isFalse();
    }
}
