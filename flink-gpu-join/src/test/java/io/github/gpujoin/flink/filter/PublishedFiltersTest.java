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

    private static final String PROCESS = "process";
    private static final String JOIN = "join";

    private final ExecutionGraphID graph = new ExecutionGraphID();
    private final JobVertexID vertex = new JobVertexID();
    private final IntermediateDataSetID data = new IntermediateDataSetID();
    private final ResultPartitionID sender = partition(0, 0);
    private final PublishedFilters first =
            new PublishedFilters(PROCESS, JOIN, List.of(sender, partition(1, 0)));
    private final PublishedFilters second = new PublishedFilters(PROCESS, JOIN, List.of(sender));

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

    private static List<DimensionFilter> found(String join, List<ResultPartitionID> partitions) {
        PublishedFilters.Published published = PublishedFilters.find(PROCESS, join, partitions);
        return published == null ? null : published.filters();
    }

    @AfterEach
    void close() {
        first.close();
        second.close();
    }

    @Test
    void shouldFindTheFiltersOfTheJoinThatReadsAResultPartition() {
        ResultPartitionID other = new ResultPartitionID();
        assertThat(found(JOIN, List.of(sender))).isNull();

        first.publish(filters("date"), true);

        assertThat(found(JOIN, List.of(other, sender))).hasSize(1);
        assertThat(found(JOIN, List.of(partition(1, 0)))).hasSize(1);
        assertThat(found("other join", List.of(sender))).isNull();
        assertThat(found(JOIN, List.of(other))).isNull();
        assertThat(found(JOIN, List.of())).isNull();
    }

    @Test
    void shouldNotFindTheFiltersOfAnotherAttempt() {
        first.publish(filters("date"), true);

        assertThat(found(JOIN, List.of(partition(0, 1)))).isNull();
    }

    @Test
    void shouldForgetTheFiltersOfAClosedSubtaskOnly() {
        first.publish(filters("date"), true);
        second.publish(filters("customer"), true);

        first.close();
        assertThat(found(JOIN, List.of(partition(1, 0)))).isNull();
        assertThat(found(JOIN, List.of(sender)))
                .singleElement()
                .extracting(DimensionFilter::dimension)
                .isEqualTo("customer");

        second.close();
        second.close();
        assertThat(found(JOIN, List.of(sender))).isNull();
    }

    @Test
    void shouldAddFiltersUntilAllArePublished() {
        first.publish(filters("date"), false);
        assertThat(PublishedFilters.find(PROCESS, JOIN, List.of(sender)).areAll()).isFalse();

        first.publish(filters("customer"), true);

        assertThat(found(JOIN, List.of(sender)))
                .extracting(DimensionFilter::dimension)
                .containsExactly("date", "customer");
        assertThat(PublishedFilters.find(PROCESS, JOIN, List.of(sender)).areAll()).isTrue();
    }

    @Test
    void shouldNotFindTheFiltersOfAnotherTaskManagerInTheSameJvm() {
        first.publish(filters("date"), true);

        assertThat(PublishedFilters.find("other", JOIN, List.of(sender))).isNull();
    }

    @Test
    void shouldPublishNothingOnceClosed() {
        first.close();
        first.publish(filters("date"), true);

        assertThat(found(JOIN, List.of(sender))).isNull();
    }
}
