// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.run;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.junit.jupiter.api.Test;

class JobClusterTest {

    @Test
    void shouldRunJobsOnAllSlotsWhereTheySayNothingElse() throws Exception {
        Configuration two = new Configuration().set(CoreOptions.DEFAULT_PARALLELISM, 2);
        try (JobCluster cluster = JobCluster.open(3, new Configuration())) {
            assertThat(cluster.env(new Configuration()).getParallelism()).isEqualTo(3);
            assertThat(cluster.env(two).getParallelism()).isEqualTo(2);
        }
    }
}
