// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.simulation;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.ExecutionConfig;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.TaskInfo;
import org.apache.flink.api.common.TaskInfoImpl;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.SimpleCounter;
import org.apache.flink.runtime.checkpoint.channel.ChannelStateWriteRequestExecutorFactory;
import org.apache.flink.runtime.checkpoint.channel.ChannelStateWriter;
import org.apache.flink.runtime.executiongraph.ExecutionAttemptID;
import org.apache.flink.runtime.executiongraph.ExecutionGraphID;
import org.apache.flink.runtime.externalresource.ExternalResourceInfoProvider;
import org.apache.flink.runtime.io.disk.iomanager.IOManager;
import org.apache.flink.runtime.io.disk.iomanager.IOManagerAsync;
import org.apache.flink.runtime.io.network.TaskEventDispatcher;
import org.apache.flink.runtime.io.network.partition.MockResultPartitionWriter;
import org.apache.flink.runtime.io.network.partition.ResultPartitionID;
import org.apache.flink.runtime.io.network.partition.ResultPartitionManager;
import org.apache.flink.runtime.io.network.partition.ResultSubpartitionIndexSet;
import org.apache.flink.runtime.io.network.partition.consumer.InputChannel;
import org.apache.flink.runtime.io.network.partition.consumer.LocalInputChannel;
import org.apache.flink.runtime.io.network.partition.consumer.SingleInputGate;
import org.apache.flink.runtime.io.network.partition.consumer.SingleInputGateBuilder;
import org.apache.flink.runtime.jobgraph.IntermediateDataSetID;
import org.apache.flink.runtime.jobgraph.IntermediateResultPartitionID;
import org.apache.flink.runtime.jobgraph.JobType;
import org.apache.flink.runtime.jobgraph.JobVertexID;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.jobgraph.tasks.TaskOperatorEventGateway;
import org.apache.flink.runtime.memory.MemoryManager;
import org.apache.flink.runtime.metrics.groups.InternalOperatorMetricGroup;
import org.apache.flink.runtime.metrics.groups.UnregisteredMetricGroups;
import org.apache.flink.runtime.metrics.util.InterceptingOperatorMetricGroup;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.operators.testutils.MockInputSplitProvider;
import org.apache.flink.runtime.scheduler.strategy.ExecutionVertexID;
import org.apache.flink.runtime.state.TestTaskStateManager;
import org.apache.flink.runtime.taskexecutor.TestGlobalAggregateManager;
import org.apache.flink.runtime.util.TestingTaskManagerRuntimeInfo;
import org.apache.flink.streaming.runtime.io.MockIndexedInputGate;
import org.apache.flink.util.SimpleUserCodeClassLoader;

/** What a task sees of its process and job. All tasks of a life run in one process. */
final class SimulatedEnvironment extends MockEnvironment {

    static final JobID JOB = new JobID(1, 1);
    private static final ExecutionGraphID GRAPH = new ExecutionGraphID();
    private static final IOManager IO = new IOManagerAsync();
    private static final MemoryManager MEMORY = MemoryManager.create(32 << 20, 4 << 10);

    /** Input channels are of some gate; nobody reads them there. */
    private static final SingleInputGate GATE = new SingleInputGateBuilder().build();

    private static final Configuration TASK = new Configuration();

    /**
     * An edge into a task.
     *
     * @param sender vertex
     * @param channels of the gate
     */
    record Input(IntermediateDataSetID data, JobVertexID sender, List<Channel> channels) {}

    /**
     * @param sender subtask
     * @param subpartition of it
     */
    record Channel(int sender, int subpartition) {}

    /** An edge out of a task. */
    record Output(IntermediateDataSetID data, int subpartitions) {}

    private final Configuration job;
    private final TaskInfo info;
    private final ExecutionAttemptID attempt;
    private final TaskOperatorEventGateway coordinators;

    /**
     * @param job its configuration
     * @param name of the task
     * @param vertex of the job
     * @param coordinators as the task reaches them
     */
    SimulatedEnvironment(
            Configuration job,
            String name,
            JobVertexID vertex,
            int subtask,
            int parallelism,
            int maxParallelism,
            int attempt,
            List<Input> inputs,
            List<Output> outputs,
            TestTaskStateManager states,
            TaskOperatorEventGateway coordinators) {
        super(
                JOB,
                "simulated",
                vertex,
                JobType.STREAMING,
                name,
                new MockInputSplitProvider(),
                1 << 10,
                TASK,
                new ExecutionConfig(),
                IO,
                states,
                new TestGlobalAggregateManager(),
                maxParallelism,
                parallelism,
                subtask,
                SimpleUserCodeClassLoader.create(SimulatedEnvironment.class.getClassLoader()),
                new Metrics(),
                new TestingTaskManagerRuntimeInfo(),
                MEMORY,
                ExternalResourceInfoProvider.NO_EXTERNAL_RESOURCES,
                new ChannelStateWriteRequestExecutorFactory(JOB));
        this.job = job;
        this.coordinators = coordinators;
        this.info = new TaskInfoImpl(name, maxParallelism, subtask, parallelism, attempt);
        this.attempt = attemptOf(vertex, subtask, attempt);
        for (int gate = 0; gate < inputs.size(); gate++) {
            addInputs(List.of(new Gate(gate, inputs.get(gate), attempt)));
        }
        for (Output output : outputs) {
            addOutputs(List.of(new Partition(output, subtask, this.attempt)));
        }
    }

    static ExecutionAttemptID attemptOf(JobVertexID vertex, int subtask, int attempt) {
        return new ExecutionAttemptID(GRAPH, new ExecutionVertexID(vertex, subtask), attempt);
    }

    private static ResultPartitionID partition(
            IntermediateDataSetID data, int subtask, ExecutionAttemptID producer) {
        return new ResultPartitionID(new IntermediateResultPartitionID(data, subtask), producer);
    }

    @Override
    public Configuration getJobConfiguration() {
        return job;
    }

    @Override
    public TaskOperatorEventGateway getOperatorCoordinatorEventGateway() {
        return coordinators;
    }

    @Override
    public TaskInfo getTaskInfo() {
        return info;
    }

    @Override
    public ExecutionAttemptID getExecutionId() {
        return attempt;
    }

    /** The value of an operator's gauge, 0 where there is none of that name. */
    int gauge(String name) {
        for (InterceptingOperatorMetricGroup operator : ((Metrics) getMetricGroup()).operators) {
            if (operator.get(name) instanceof Gauge<?> gauge) {
                return ((Number) gauge.getValue()).intValue();
            }
        }
        return 0;
    }

    /** Keeps the metrics of operators. */
    private static final class Metrics
            extends UnregisteredMetricGroups.UnregisteredTaskMetricGroup {

        private final List<InterceptingOperatorMetricGroup> operators = new ArrayList<>();

        @Override
        public InternalOperatorMetricGroup getOrAddOperator(
                OperatorID id, String name, Map<String, String> variables) {
            InterceptingOperatorMetricGroup group =
                    new InterceptingOperatorMetricGroup() {
                        @Override
                        public MetricGroup addGroup(String child) {
                            return this;
                        }
                    };
            operators.add(group);
            return group;
        }
    }

    /** Tells of its channels which subpartitions they read. */
    private static final class Gate extends MockIndexedInputGate {
        private final Input input;
        private final int attempt;

        Gate(int index, Input input, int attempt) {
            super(index, input.channels().size());
            this.input = input;
            this.attempt = attempt;
        }

        @Override
        public InputChannel getChannel(int index) {
            Channel channel = input.channels().get(index);
            ExecutionAttemptID producer = attemptOf(input.sender(), channel.sender(), attempt);
            return new LocalInputChannel(
                    GATE,
                    index,
                    partition(input.data(), channel.sender(), producer),
                    new ResultSubpartitionIndexSet(channel.subpartition()),
                    new ResultPartitionManager(),
                    new TaskEventDispatcher(),
                    0,
                    0,
                    new SimpleCounter(),
                    new SimpleCounter(),
                    ChannelStateWriter.NO_OP,
                    new ArrayDeque<>());
        }
    }

    private static final class Partition extends MockResultPartitionWriter {
        private final Output output;
        private final ResultPartitionID id;

        Partition(Output output, int subtask, ExecutionAttemptID producer) {
            this.output = output;
            this.id = partition(output.data(), subtask, producer);
        }

        @Override
        public ResultPartitionID getPartitionId() {
            return id;
        }

        @Override
        public int getNumberOfSubpartitions() {
            return output.subpartitions();
        }
    }
}
