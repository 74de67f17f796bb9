// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.filter;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.filter.KeyFilterBuilder;
import java.util.List;
import org.apache.flink.runtime.executiongraph.ExecutionAttemptID;
import org.apache.flink.runtime.executiongraph.ExecutionGraphID;
import org.apache.flink.runtime.io.network.partition.ResultPartitionID;
import org.apache.flink.runtime.jobgraph.IntermediateDataSetID;
import org.apache.flink.runtime.jobgraph.IntermediateResultPartitionID;
import org.apache.flink.runtime.jobgraph.JobVertexID;
import org.apache.flink.runtime.scheduler.strategy.ExecutionVertexID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PublishedFiltersTest {

    private static final String JOIN = "join";

    private final ExecutionGraphID graph = new ExecutionGraphID();
    private final JobVertexID vertex = new JobVertexID();
    private final IntermediateDataSetID data = new IntermediateDataSetID();
    private final ResultPartitionID sender = partition(0, 0);
    private final PublishedFilters first =
            new PublishedFilters(JOIN, List.of(sender, partition(1, 0)));
    private final PublishedFilters second = new PublishedFilters(JOIN, List.of(sender));

    private ResultPartitionID partition(int subtask, int attempt) {
        return new ResultPartitionID(
                new IntermediateResultPartitionID(data, subtask),
                new ExecutionAttemptID(graph, new ExecutionVertexID(vertex, subtask), attempt));
    }

    private static List<DimensionFilter> filters(String dimension) {
        KeyFilterBuilder keys = new KeyFilterBuilder(1024);
        keys.add(7);
        return List.of(new DimensionFilter(dimension, 0, keys.build().orElseThrow()));
    }

    @AfterEach
    void close() {
        first.close();
        second.close();
    }

    @Test
    void shouldFindTheFiltersOfTheJoinThatReadsAResultPartition() {
        ResultPartitionID other = new ResultPartitionID();
        assertThat(PublishedFilters.find(JOIN, List.of(sender))).isNull();

        first.publish(filters("date"));

        assertThat(PublishedFilters.find(JOIN, List.of(other, sender))).hasSize(1);
        assertThat(PublishedFilters.find(JOIN, List.of(partition(1, 0)))).hasSize(1);
        assertThat(PublishedFilters.find("other join", List.of(sender))).isNull();
        assertThat(PublishedFilters.find(JOIN, List.of(other))).isNull();
        assertThat(PublishedFilters.find(JOIN, List.of())).isNull();
    }

    @Test
    void shouldNotFindTheFiltersOfAnotherAttempt() {
        first.publish(filters("date"));

        assertThat(PublishedFilters.find(JOIN, List.of(partition(0, 1)))).isNull();
    }

    @Test
    void shouldForgetTheFiltersOfAClosedSubtaskOnly() {
        first.publish(filters("date"));
        second.publish(filters("customer"));

        first.close();
        assertThat(PublishedFilters.find(JOIN, List.of(partition(1, 0)))).isNull();
        assertThat(PublishedFilters.find(JOIN, List.of(sender)))
                .singleElement()
                .extracting(DimensionFilter::dimension)
                .isEqualTo("customer");

        second.close();
        second.close();
        assertThat(PublishedFilters.find(JOIN, List.of(sender))).isNull();
    }

    private boolean areExpected() {
        return PublishedFilters.areExpected(JOIN, List.of(partition(2, 0), sender));
    }

    @Test
    void shouldBeExpectedUntilTheFirstSubtaskPublishes() {
        assertThat(areExpected()).isFalse();
        first.expect();
        second.expect();
        assertThat(areExpected()).isTrue();
        assertThat(PublishedFilters.areExpected("other join", List.of(sender))).isFalse();

        second.publish(List.of());
        assertThat(areExpected()).isFalse();
        first.publish(filters("date"));
        assertThat(areExpected()).isFalse();
    }

    @Test
    void shouldNotBeExpectedOfSubtasksThatFailed() {
        first.expect();
        second.expect();
        first.close();
        first.close();
        assertThat(areExpected()).isTrue();

        second.close();
        assertThat(areExpected()).isFalse();
    }
}
