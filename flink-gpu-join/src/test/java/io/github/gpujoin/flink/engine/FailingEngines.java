// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import io.github.gpujoin.core.engine.EngineChecks;
import io.github.gpujoin.core.engine.EngineState;
import io.github.gpujoin.core.engine.EngineStats;
import io.github.gpujoin.core.engine.ForkableJoinEngine;
import io.github.gpujoin.core.engine.GroupRows;
import io.github.gpujoin.core.engine.InFlightProbe;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.engine.TableMemory;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.reference.ReferenceJoinEngineFactory;
import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Engines that work for a number of calls and then fail as a lost device does, for good. They load
 * chunks in reverse, so that they give the results of a row in another order than others do.
 * Engines of several threads may share tables.
 */
public final class FailingEngines implements JoinEngineFactory {

    private static final long serialVersionUID = 1L;

    private final int goodCalls;
    private final AtomicInteger calls = new AtomicInteger();
    private final AtomicInteger finishedBuilds = new AtomicInteger();

    /**
     * @param goodCalls that all engines together carry out
     */
    public FailingEngines(int goodCalls) {
        this.goodCalls = goodCalls;
    }

    public boolean hasFailed() {
        return failedCalls() > 0;
    }

    /** How many engines built tables, rather than fork another one. */
    int finishedBuilds() {
        return finishedBuilds.get();
    }

    int failedCalls() {
        return Math.max(0, calls.get() - goodCalls);
    }

    private void call() {
        if (calls.getAndIncrement() >= goodCalls) {
            throw new GpuUnavailableException(
                    GpuFailure.DEVICE_LOST, "told to fail: goodCalls=" + goodCalls);
        }
    }

    @Override
    public String engineName() {
        return "failing";
    }

    @Override
    public JoinEngine create(JoinSpec spec) {
        call();
        return new Engine(new ReferenceJoinEngineFactory().create(spec), new ArrayList<>());
    }

    private record Build(int dimension, Chunk chunk) {}

    private final class Engine implements ForkableJoinEngine {

        private final JoinEngine inner;
        private final List<Build> builds;

        Engine(JoinEngine inner, List<Build> builds) {
            this.inner = inner;
            this.builds = builds;
        }

        @Override
        public ForkableJoinEngine fork() {
            inner.state().require(EngineState.JOINING);
            call();
            Engine fork = new Engine(new ReferenceJoinEngineFactory().create(spec()), builds);
            fork.build();
            return fork;
        }

        @Override
        public ForkableJoinEngine forkLoading(int dimension) {
            inner.state().require(EngineState.JOINING);
            call();
            List<Build> others = new ArrayList<>(builds);
            others.removeIf(build -> build.dimension == dimension);
            return new Engine(new ReferenceJoinEngineFactory().create(spec()), others);
        }

        @Override
        public TableMemory tableMemory() {
            return TableMemory.ofOne(Long.MAX_VALUE);
        }

        @Override
        public long capacityBytes() {
            return Long.MAX_VALUE;
        }

        @Override
        public Object tableLocation() {
            return FailingEngines.this;
        }

        @Override
        public JoinSpec spec() {
            return inner.spec();
        }

        @Override
        public EngineState state() {
            return inner.state();
        }

        @Override
        public void submitBuild(int dimension, Chunk chunk) {
            if (spec().hasChangelog() && inner.state() == EngineState.JOINING) {
                inner.submitBuild(dimension, chunk);
                call();
                return;
            }
            inner.state().require(EngineState.LOADING);
            EngineChecks.buildSide(spec(), dimension, chunk);
            call();
            builds.add(new Build(dimension, chunk));
        }

        @Override
        public boolean buildStep(long maxRows) {
            inner.state().require(EngineState.LOADING);
            call();
            if (!spec().hasChangelog()) {
                Collections.reverse(builds);
            }
            build();
            finishedBuilds.incrementAndGet();
            return true;
        }

        private void build() {
            builds.forEach(build -> inner.submitBuild(build.dimension, build.chunk));
            inner.finishBuild();
        }

        @Override
        public boolean submitProbe(Chunk chunk, int firstRow) {
            boolean taken = inner.submitProbe(chunk, firstRow);
            call();
            return taken;
        }

        @Override
        public ResultBatch poll() {
            inner.state().require(EngineState.JOINING);
            call();
            return inner.poll();
        }

        @Override
        public boolean awaitsDrain() {
            return inner.awaitsDrain();
        }

        @Override
        public GroupRows drainGroups() {
            call();
            return inner.drainGroups();
        }

        @Override
        public int inFlightCount() {
            return inner.inFlightCount();
        }

        @Override
        public List<InFlightProbe> snapshot() {
            return inner.snapshot();
        }

        @Override
        public void restore(List<InFlightProbe> pending) {
            inner.restore(pending);
            call();
        }

        @Override
        public EngineStats stats() {
            return inner.stats();
        }

        @Override
        public void close() {
            inner.close();
        }
    }
}
