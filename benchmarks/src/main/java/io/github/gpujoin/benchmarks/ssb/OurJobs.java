// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.ssb;

import io.github.gpujoin.examples.query.Query;
import io.github.gpujoin.examples.query.QueryResult;
import io.github.gpujoin.examples.query.QueryRunner;
import io.github.gpujoin.examples.run.JobCluster;
import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import java.io.PrintWriter;
import java.io.Writer;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExecutionOptions;
import org.apache.flink.configuration.PipelineOptions;

/** The streaming jobs of {@code bin/star-etl}. */
final class OurJobs implements SsbContender {

    private final String name;
    private final JobCluster cluster;
    private final Configuration options;

    private OurJobs(String name, JobCluster cluster, Configuration options) {
        this.name = name;
        this.cluster = cluster;
        this.options = options;
        options.set(ExecutionOptions.RUNTIME_MODE, RuntimeExecutionMode.STREAMING);
        options.set(PipelineOptions.GENERIC_TYPES, false);
    }

    /** Creates the jobs with an engine. */
    static OurJobs with(String name, JobCluster cluster, GpuJoinOptions.Engine engine) {
        Configuration options = new Configuration();
        options.set(GpuJoinOptions.ENGINE, engine);
        return new OurJobs(name, cluster, options);
    }

    /** Creates the jobs with the default engine, in which dimensions do not filter facts. */
    static OurJobs withoutFilters(String name, JobCluster cluster) {
        Configuration options = new Configuration();
        options.set(GpuJoinOptions.FACT_FILTERS, false);
        return new OurJobs(name, cluster, options);
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public List<String> answer(Query query, SsbFiles files) throws Exception {
        PrintWriter silent = new PrintWriter(Writer.nullWriter());
        QueryResult result =
                new QueryRunner(cluster.env(options), files.directory(), files.format(), silent)
                        .run(query);
        return SsbContender.sorted(result.rows().stream().map(Arrays::asList));
    }
}
