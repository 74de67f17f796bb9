// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.simulation;

import io.github.gpujoin.flink.api.Dimension;
import io.github.gpujoin.flink.api.StarJoin;
import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import io.github.gpujoin.flink.simulation.JobShape.DimensionShape;
import io.github.gpujoin.flink.simulation.JobShape.Rows;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.runtime.jobgraph.IntermediateDataSetID;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.jobgraph.JobVertex;
import org.apache.flink.runtime.jobgraph.JobVertexID;
import org.apache.flink.runtime.operators.coordination.OperatorCoordinator;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.DataStreamSource;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.source.legacy.ParallelSourceFunction;
import org.apache.flink.streaming.api.graph.StreamConfig;
import org.apache.flink.streaming.api.graph.StreamEdge;
import org.apache.flink.streaming.api.operators.StreamMap;
import org.apache.flink.streaming.api.operators.StreamSource;
import org.apache.flink.types.Row;
import org.apache.flink.util.SerializedValue;

/**
 * A job as Flink's own planner makes it of the public API: vertices with chains of operators, and
 * the edges between them. Sources and the sink are played by the simulation.
 */
final class JobPlan {

    static final String FACTS = "facts";
    static final String SINK = "results";

    /** Rows of a dimension up to this time make it complete. */
    static final long COMPLETE_AT = 1_000;

    /** That of the plan; each life runs the vertices in parallelisms of its own. */
    private static final int PLANNED_PARALLELISM = 2;

    /**
     * A vertex of the job.
     *
     * @param head id of the first operator in the stream graph
     * @param chain configurations of its operators, by their id in the stream graph
     * @param in edges into the vertex, in the order of the task's input gates
     * @param out edges out of it
     * @param coordinators of its operators
     * @param maxParallelism number of key groups
     */
    record Vertex(
            JobVertexID id,
            int number,
            String name,
            int head,
            Map<Integer, StreamConfig> chain,
            List<StreamEdge> in,
            List<StreamEdge> out,
            List<OperatorCoordinator.Provider> coordinators,
            int maxParallelism) {

        StreamConfig operator(int node) {
            return chain.get(node);
        }

        boolean isSource() {
            return in.isEmpty();
        }
    }

    private final List<Vertex> vertices = new ArrayList<>();
    private final Map<Integer, Vertex> ofNode = new HashMap<>();

    private final Map<StreamEdge, IntermediateDataSetID> data = new HashMap<>();

    private final Configuration configuration;

    private JobPlan(Configuration configuration) {
        this.configuration = configuration;
    }

    /** Of the job. */
    Configuration configuration() {
        return configuration;
    }

    /** In topological order, sources first. */
    List<Vertex> vertices() {
        return vertices;
    }

    Vertex sourceOf(StreamEdge edge) {
        return ofNode.get(edge.getSourceId());
    }

    Vertex targetOf(StreamEdge edge) {
        return ofNode.get(edge.getTargetId());
    }

    /** The result of the edge's sender that travels on it. */
    IntermediateDataSetID dataOf(StreamEdge edge) {
        ClassLoader loader = JobPlan.class.getClassLoader();
        return data.computeIfAbsent(
                edge,
                e ->
                        sourceOf(e)
                                .operator(e.getSourceId())
                                .getOperatorNonChainedOutputs(loader)
                                .stream()
                                .filter(out -> Objects.equals(out.getOutputTag(), e.getOutputTag()))
                                .findFirst()
                                .orElseThrow()
                                .getDataSetId());
    }

    static String dimensionName(int dimension) {
        return "dimension" + dimension;
    }

    // ------------------------------------------------------------------ the job

    /**
     * @throws RuntimeException where the join refuses the job
     */
    static JobPlan of(JobShape shape) {
        Configuration config = new Configuration();
        config.set(GpuJoinOptions.CHUNK_BYTES, new MemorySize(shape.chunkBytes()));
        config.setString("gpu-join.late-dimension-rows", "drop");
        config.set(GpuJoinOptions.TRANSPORT, shape.transport());
        config.set(GpuJoinOptions.RING_SHARING, shape.sharing());
        if (shape.measuredLimit() != JobShape.NOT_MEASURED) {
            config.set(GpuJoinOptions.REPLICATE_MAX_BYTES, new MemorySize(shape.measuredLimit()));
        }
        config.set(GpuJoinOptions.RING_SLOTS, JobShape.RING_SLOTS);
        config.set(
                GpuJoinOptions.ENGINE,
                shape.hasFailingDevice() || shape.hasHostGpu()
                        ? GpuJoinOptions.Engine.CPU
                        : GpuJoinOptions.Engine.valueOf(shape.engine().toUpperCase(Locale.ROOT)));
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(config);
        env.setParallelism(PLANNED_PARALLELISM);
        env.setMaxParallelism(shape.keyGroups());
        env.enableCheckpointing(1_000, shape.mode());
        env.getCheckpointConfig().enableUnalignedCheckpoints(shape.unaligned());
        SingleOutputStreamOperator<Row> results =
                shape.isPair() ? pairJoin(env, shape) : starJoin(env, shape);
        SingleOutputStreamOperator<Row> sink =
                results.transform(SINK, results.getType(), new StreamMap<>(row -> row)).uid(SINK);
        if (shape.sinkApart()) {
            sink.disableChaining();
        }
        JobGraph graph = env.getStreamGraph().getJobGraph();
        // The simulation writes data in flight itself: Flink's writer would take a thread a task.
        Configuration job = new Configuration(graph.getJobConfiguration());
        job.set(CheckpointingOptions.ENABLE_UNALIGNED, false);
        JobPlan plan = new JobPlan(job);
        graph.getVerticesSortedTopologicallyFromSources().forEach(plan::add);
        plan.connect();
        return plan;
    }

    private static SingleOutputStreamOperator<Row> pairJoin(
            StreamExecutionEnvironment env, JobShape shape) {
        return PairJob.join(
                shape.dimensions().get(0),
                source(env, dimensionName(0), Boundedness.BOUNDED, List.of("id", "value")),
                source(env, FACTS, Boundedness.BOUNDED, List.of("number", "key0")));
    }

    private static SingleOutputStreamOperator<Row> starJoin(
            StreamExecutionEnvironment env, JobShape shape) {
        List<DimensionShape> dimensions = shape.dimensions();
        List<String> factColumns = new ArrayList<>(List.of("number"));
        for (int d = 0; d < dimensions.size(); d++) {
            factColumns.add("key" + d);
        }
        StarJoin<Row> join =
                StarJoin.of(source(env, FACTS, Boundedness.BOUNDED, factColumns)).select("number");
        for (int d = 0; d < dimensions.size(); d++) {
            add(env, join, d, shape);
        }
        if (shape.factTtlMs() > 0) {
            join.ttl(Duration.ofMillis(shape.factTtlMs()));
        }
        return join.uid("join").toRows();
    }

    private static void add(
            StreamExecutionEnvironment env, StarJoin<Row> join, int d, JobShape job) {
        DimensionShape shape = job.dimensions().get(d);
        Boundedness boundedness =
                shape.rows() == Rows.BOUNDED
                        ? Boundedness.BOUNDED
                        : Boundedness.CONTINUOUS_UNBOUNDED;
        DataStream<Row> rows = source(env, dimensionName(d), boundedness, List.of("id", "value"));
        join.dimension(rows, dimension -> describe(dimension, d, job));
    }

    private static void describe(Dimension<Row> dimension, int d, JobShape job) {
        DimensionShape shape = job.dimensions().get(d);
        dimension.named(dimensionName(d)).on("key" + d, "id");
        if (job.isHashed(d)) {
            // The join hashes two longs, since they exceed 64 bits.
            dimension.on("key" + d, "id");
        }
        if (shape.isSelected()) {
            dimension.select("value AS value" + d);
        }
        switch (shape.kind()) {
            case LEFT -> dimension.left();
            case SEMI -> dimension.semi();
            case ANTI -> dimension.anti();
            case INNER -> {}
            case RIGHT, FULL -> throw new IllegalArgumentException("of pairs: " + shape);
        }
        switch (shape.rows()) {
            case COMPLETE_AT_WATERMARK -> dimension.completeAtWatermark(COMPLETE_AT);
            case CHANGING -> {
                dimension.changelog();
                if (job.rowTtlMs() > 0) {
                    dimension.ttl(Duration.ofMillis(job.rowTtlMs()));
                }
            }
            case VERSIONED -> dimension.versioned();
            case BOUNDED -> {}
        }
        if (shape.partitioned()) {
            dimension.partitioned();
        } else if (!job.isMeasured(d)) {
            dimension.replicated();
        }
    }

    private static DataStream<Row> source(
            StreamExecutionEnvironment env,
            String name,
            Boundedness boundedness,
            List<String> columns) {
        TypeInformation<?>[] types = new TypeInformation<?>[columns.size()];
        java.util.Arrays.fill(types, Types.LONG);
        return new DataStreamSource<>(
                        env,
                        Types.ROW_NAMED(columns.toArray(String[]::new), types),
                        new StreamSource<>(new Played()),
                        true,
                        name,
                        boundedness)
                .uid(name);
    }

    /** Stands in the plan for a source that the simulation plays. */
    private static final class Played implements ParallelSourceFunction<Row> {
        private static final long serialVersionUID = 1L;

        @Override
        public void run(SourceContext<Row> context) {
            throw new AssertionError("the simulation plays sources");
        }

        @Override
        public void cancel() {}
    }

    // ------------------------------------------------------------------ the graph

    private void add(JobVertex vertex) {
        ClassLoader loader = JobPlan.class.getClassLoader();
        StreamConfig head = new StreamConfig(vertex.getConfiguration());
        Map<Integer, StreamConfig> chain = new LinkedHashMap<>();
        chain.put(head.getVertexID(), head);
        chain.putAll(head.getTransitiveChainedTaskConfigs(loader));
        Vertex added =
                new Vertex(
                        vertex.getID(),
                        vertices.size(),
                        vertex.getName(),
                        head.getVertexID(),
                        chain,
                        vertex.isInputVertex() ? List.of() : head.getInPhysicalEdges(loader),
                        new ArrayList<>(),
                        vertex.getOperatorCoordinators().stream().map(JobPlan::provider).toList(),
                        vertex.getMaxParallelism());
        vertices.add(added);
        chain.keySet().forEach(node -> ofNode.put(node, added));
    }

    private static OperatorCoordinator.Provider provider(
            SerializedValue<OperatorCoordinator.Provider> provider) {
        try {
            return provider.deserializeValue(JobPlan.class.getClassLoader());
        } catch (IOException | ClassNotFoundException e) {
            throw new IllegalStateException(e);
        }
    }

    private void connect() {
        for (Vertex vertex : vertices) {
            vertex.in().forEach(edge -> sourceOf(edge).out().add(edge));
        }
    }
}
