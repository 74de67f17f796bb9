// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.api.options.LateDimensionRows;
import io.github.gpujoin.flink.emit.ChunkRows;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.SimpleCounter;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.MockOutput;
import org.apache.flink.types.Row;
import org.apache.flink.util.OutputTag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LateRowsTest {

    private static final OutputTag<Row> TAG =
            new OutputTag<>(
                    "late", ChunkRows.typeOf(JoinScenario.spec().dimensions().get(0).schema()));

    private final Counter counter = new SimpleCounter();

    /** Side outputs of a chunk of three late rows. */
    private List<Object> sideOutput(LateRowPolicy policy, boolean partitioned, boolean emits) {
        List<Object> side = new ArrayList<>();
        Output<StreamRecord<String>> output =
                new MockOutput<>(new ArrayList<>()) {
                    @Override
                    public <X> void collect(OutputTag<X> tag, StreamRecord<X> late) {
                        side.add(((Row) late.getValue()).getField("value"));
                    }
                };
        JoinScenario scenario =
                new JoinScenario(partitioned).buildRow(5, 50).buildRow(5, 51).buildRow(5, 52);
        LateRows late = new LateRows(JoinScenario.spec(), policy, output, counter, emits);
        for (Chunk chunk : scenario.buildChunks()) {
            late.accept(chunk, "watermark=7");
        }
        return side;
    }

    @Test
    void shouldCountRowsThatItDrops() {
        assertThat(sideOutput(LateRowPolicy.of(LateDimensionRows.DROP), false, true)).isEmpty();
        assertThat(counter.getCount()).isEqualTo(3);
    }

    @ParameterizedTest(name = "partitioned={0}, emits={1}")
    @CsvSource({"false,true,3", "false,false,0", "true,true,3", "true,false,3"})
    void shouldEmitRowsOfAReplicatedDimensionOnceInAllSubtasks(
            boolean partitioned, boolean emits, int expected) {
        LateRowPolicy side = new LateRowPolicy(LateDimensionRows.FAIL, Map.of(0, TAG));
        assertThat(sideOutput(side, partitioned, emits)).hasSize(expected);
        assertThat(counter.getCount()).isEqualTo(3);
    }
}
