// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.engine.BuildShare;
import io.github.gpujoin.core.engine.ForkableJoinEngine;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.cpu.CpuJoinEngineFactory;
import io.github.gpujoin.flink.engine.DimensionPartitioning;
import io.github.gpujoin.flink.engine.EngineSelection;
import io.github.gpujoin.flink.runtime.histogram.TestHistogramGateway;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.flink.api.common.ExecutionConfig;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.checkpoint.channel.ChannelStateWriteRequestExecutorFactory;
import org.apache.flink.runtime.externalresource.ExternalResourceInfoProvider;
import org.apache.flink.runtime.io.disk.iomanager.IOManagerAsync;
import org.apache.flink.runtime.jobgraph.JobType;
import org.apache.flink.runtime.jobgraph.JobVertexID;
import org.apache.flink.runtime.jobgraph.tasks.TaskOperatorEventGateway;
import org.apache.flink.runtime.memory.MemoryManager;
import org.apache.flink.runtime.metrics.groups.UnregisteredMetricGroups;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.operators.testutils.MockInputSplitProvider;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.TestTaskStateManager;
import org.apache.flink.runtime.taskexecutor.TestGlobalAggregateManager;
import org.apache.flink.runtime.util.TestingTaskManagerRuntimeInfo;
import org.apache.flink.streaming.util.AbstractStreamOperatorTestHarness;
import org.apache.flink.util.IOUtils;
import org.apache.flink.util.SimpleUserCodeClassLoader;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Subtasks of one process that report their histograms to a coordinator. */
class DeviceSharingTest {

    private static final int MAX_PARALLELISM = JoinScenario.MAX_PARALLELISM;
    private static final int BUILD_ROWS = 3_000;
    private static final int FACTS = 600;
    private static final long ROW_BYTES = 16;

    private final JoinScenario scenario = scenario();
    private final List<BuildShare> expected = new ArrayList<>();
    private final List<JoinHarness> subtasks = new ArrayList<>();
    private final List<String> results = new ArrayList<>();
    private TestHistogramGateway coordinator;

    /** Facts of few keys, so that the expected results are quickly computed. */
    private static JoinScenario scenario() {
        JoinScenario scenario = new JoinScenario(true);
        Random random = new Random(3);
        for (int i = 0; i < BUILD_ROWS; i++) {
            scenario.buildRow(random.nextInt(2_000), 1_000_000 + i);
        }
        for (int i = 0; i < FACTS; i++) {
            scenario.fact(random.nextInt(2_500), i);
        }
        return scenario;
    }

    /** A device on the CPU, which records what it is told to expect. */
    private final class RecordingDevice implements JoinEngineFactory {

        private static final long serialVersionUID = 1L;

        @Override
        public String engineName() {
            return "device";
        }

        @Override
        public JoinEngine create(JoinSpec spec) {
            JoinEngine engine = new CpuJoinEngineFactory().create(spec);
            return (JoinEngine)
                    Proxy.newProxyInstance(
                            getClass().getClassLoader(),
                            new Class<?>[] {ForkableJoinEngine.class},
                            (proxy, method, arguments) -> {
                                if (method.getName().equals("expect")) {
                                    expected.add((BuildShare) arguments[0]);
                                }
                                try {
                                    return method.invoke(engine, arguments);
                                } catch (InvocationTargetException e) {
                                    throw e.getCause();
                                }
                            });
        }
    }

    private static final class Task extends MockEnvironment {

        private final TaskOperatorEventGateway coordinator;

        Task(int subtask, int parallelism, TaskOperatorEventGateway coordinator) {
            super(
                    new JobID(),
                    "job",
                    new JobVertexID(),
                    JobType.STREAMING,
                    "join",
                    new MockInputSplitProvider(),
                    1 << 10,
                    new Configuration(),
                    new ExecutionConfig(),
                    new IOManagerAsync(),
                    new TestTaskStateManager(),
                    new TestGlobalAggregateManager(),
                    MAX_PARALLELISM,
                    parallelism,
                    subtask,
                    SimpleUserCodeClassLoader.create(Task.class.getClassLoader()),
                    UnregisteredMetricGroups.createUnregisteredTaskMetricGroup(),
                    new TestingTaskManagerRuntimeInfo(),
                    MemoryManager.create(16 << 20, MemoryManager.DEFAULT_PAGE_SIZE),
                    ExternalResourceInfoProvider.NO_EXTERNAL_RESOURCES,
                    new ChannelStateWriteRequestExecutorFactory(new JobID()));
            this.coordinator = coordinator;
        }

        @Override
        public TaskOperatorEventGateway getOperatorCoordinatorEventGateway() {
            return coordinator;
        }
    }

    @AfterEach
    void close() throws Exception {
        IOUtils.closeAll(subtasks);
    }

    /** Starts an attempt of all subtasks. */
    private void start(int parallelism, OperatorSubtaskState state, int before) throws Exception {
        coordinator = new TestHistogramGateway(parallelism);
        EngineSelection engines =
                new EngineSelection(gpu -> new RecordingDevice(), true, new CpuJoinEngineFactory())
                        .dividing(new DimensionPartitioning(0, 0, JoinScenario.SPILL_DELAY_MS));
        for (int i = 0; i < parallelism; i++) {
            Task task = new Task(i, parallelism, coordinator);
            coordinator.started(i, task.getExecutionId());
            JoinHarness subtask = new JoinHarness(JoinScenario.operator(engines), task);
            subtasks.add(subtask);
            if (state == null) {
                subtask.initializeEmptyState();
            } else {
                subtask.initializeState(
                        AbstractStreamOperatorTestHarness.repartitionOperatorState(
                                state, MAX_PARALLELISM, before, parallelism, i));
            }
            subtask.open();
        }
    }

    /** Ends the attempt of all subtasks. */
    private void stop() throws Exception {
        for (JoinHarness subtask : subtasks) {
            results.addAll(subtask.results());
        }
        IOUtils.closeAll(subtasks);
        subtasks.clear();
        expected.clear();
    }

    private JoinHarness owner(Chunk chunk) {
        return subtasks.get(
                KeyGroupRangeAssignment.computeOperatorIndexForKeyGroup(
                        MAX_PARALLELISM, subtasks.size(), chunk.partition()));
    }

    private void load() throws Exception {
        for (Chunk chunk : scenario.buildChunks()) {
            owner(chunk).build(chunk);
        }
    }

    private void join() throws Exception {
        for (Chunk chunk : scenario.factChunks()) {
            owner(chunk).probe(chunk);
        }
        for (JoinHarness subtask : subtasks) {
            subtask.endProbe();
            subtask.finish();
            results.addAll(subtask.results());
        }
        assertThat(results).containsExactlyInAnyOrderElementsOf(scenario.results());
    }

    private void runMails() throws Exception {
        for (JoinHarness subtask : subtasks) {
            subtask.runMails(10);
        }
    }

    private void assertExpected(int parallelism) {
        assertThat(expected)
                .hasSize(parallelism)
                .allMatch(share -> share.processRows() == BUILD_ROWS)
                .allMatch(share -> share.processBytes() == ROW_BYTES * BUILD_ROWS)
                .allMatch(
                        share -> share.bytes() == ROW_BYTES * share.partitions().partitionedRows());
        assertThat(expected.stream().mapToLong(BuildShare::bytes).sum())
                .isEqualTo(ROW_BYTES * BUILD_ROWS);
    }

    @Test
    void shouldTellTheDeviceWhatAllSubtasksOfTheProcessBuild() throws Exception {
        start(3, null, 0);
        load();
        subtasks.get(0).endBuild();
        subtasks.get(1).endBuild();
        runMails();
        assertThat(expected).as("before the last subtask has loaded").isEmpty();

        subtasks.get(2).endBuild();
        runMails();

        assertExpected(3);
        join();
    }

    @Test
    void shouldJoinWhileTheCoordinatorDoesNotAnswer() throws Exception {
        start(2, null, 0);
        coordinator.shutDown();
        load();
        for (JoinHarness subtask : subtasks) {
            subtask.endBuild();
        }
        join();
        assertThat(coordinator.reportCount()).isGreaterThanOrEqualTo(2);
        assertThat(expected).isEmpty();
    }

    @Test
    void shouldJoinWhileAnotherSubtaskLoads() throws Exception {
        start(2, null, 0);
        load();
        subtasks.get(0).endBuild();
        for (Chunk chunk : scenario.factChunks()) {
            if (owner(chunk) == subtasks.get(0)) {
                subtasks.get(0).probe(chunk);
            }
        }
        subtasks.get(0).runMails(10_000);
        assertThat(subtasks.get(0).results()).isNotEmpty();
        assertThat(expected).isEmpty();
    }

    /** The snapshot is between the reports of two subtasks. */
    @Test
    void shouldReportAgainAfterARestoreWithAnotherParallelism() throws Exception {
        start(2, null, 0);
        load();
        subtasks.get(0).endBuild();
        List<OperatorSubtaskState> states = new ArrayList<>();
        for (JoinHarness subtask : subtasks) {
            states.add(subtask.snapshot(1, 1));
        }
        stop();
        start(
                3,
                AbstractStreamOperatorTestHarness.repackageState(
                        states.toArray(OperatorSubtaskState[]::new)),
                2);
        for (JoinHarness subtask : subtasks) {
            subtask.endBuild();
        }
        runMails();

        assertThat(coordinator.reportCount()).isEqualTo(3);
        assertExpected(3);
        join();
    }

    @Test
    void shouldExpectItsOwnRowsWithoutACoordinatorIfItIsTheOnlySubtask() throws Exception {
        start(1, null, 0);
        load();
        subtasks.get(0).endBuild();
        assertExpected(1);
        assertThat(coordinator.reportCount()).isZero();
        join();
    }
}
