// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu;

import io.github.gpujoin.core.engine.AbstractJoinEngine;
import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.EngineUnavailableException;
import io.github.gpujoin.core.engine.ForkableJoinEngine;
import io.github.gpujoin.core.engine.GroupRows;
import io.github.gpujoin.core.engine.InFlightProbe;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ProbeQueue;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.engine.TableMemory;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.core.region.MemoryRefusedException;
import io.github.gpujoin.core.region.PagedMemory;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Joins on the CPU with one {@link CpuJoinTable} for each dimension.
 *
 * <p>The engine is synchronous: {@link #poll()} computes one batch. All memory that grows with the
 * data is native, and probing allocates none. If an allocation is refused, the engine is FAILED and
 * throws {@link EngineUnavailableException}.
 *
 * <p>Not thread-safe; {@link #fork()} creates engines for other threads over the same tables,
 * unless a dimension is a changelog.
 */
public final class CpuJoinEngine extends AbstractJoinEngine<CpuJoinEngine.Probe>
        implements ForkableJoinEngine {

    private static final int MAX_IN_FLIGHT = 4;

    private final List<BuildStaging> staging = new ArrayList<>();

    /** Complete tables, in the order of the dimensions. */
    private final List<CpuJoinTable> tables = new CopyOnWriteArrayList<>();

    /** Build of the first dimension without a table; null between tables. */
    private @Nullable TableBuild build;

    private final Allocator allocator;
    private final PagedMemory scratch;

    /** Tables of changelog dimensions, by dimension. */
    private final Map<Integer, ChangingTable> changing = new TreeMap<>();

    /** Tables of another engine, by dimension; the others are built here. */
    private final Map<Integer, CpuJoinTable> shared = new TreeMap<>();

    /** Tables that another engine counts as its memory. */
    private final BitSet notCounted = new BitSet();

    private @Nullable ProbePipeline pipeline;

    /** Null if the join does not aggregate. */
    private @Nullable GroupTable<ResultBatch> groups;

    /** An in-flight probe, and whether its join has started. */
    static final class Probe extends ProbeQueue.Probe {
        boolean opened;

        Probe(InFlightProbe pending) {
            super(pending);
        }
    }

    /** Creates an engine without a limit on its memory. */
    public CpuJoinEngine(JoinSpec spec) {
        this(spec, Allocator.unlimited());
    }

    /**
     * @param allocator of all memory that grows with the data
     */
    public CpuJoinEngine(JoinSpec spec, Allocator allocator) {
        super(spec, MAX_IN_FLIGHT);
        this.allocator = allocator;
        this.scratch = new PagedMemory(allocator);
        for (DimensionSpec dimension : spec.dimensions()) {
            staging.add(new BuildStaging(new RowLayout(dimension), allocator));
        }
    }

    @Override
    public CpuJoinEngine fork() {
        requireForkable();
        CpuJoinEngine fork = new CpuJoinEngine(spec(), allocator);
        try {
            fork.tables.addAll(retainedTables());
            fork.openPipeline();
            fork.joinAs(this);
        } catch (MemoryRefusedException e) {
            fork.close();
            throw EngineUnavailableException.noMemory(e);
        } catch (Throwable e) {
            fork.close();
            throw e;
        }
        return fork;
    }

    @Override
    public CpuJoinEngine forkLoading(int dimension) {
        requireForkable();
        CpuJoinEngine fork = new CpuJoinEngine(spec(), allocator);
        for (int d = 0; d < tables.size(); d++) {
            if (d != dimension) {
                fork.shared.put(d, tables.get(d).retain());
                fork.notCounted.set(d);
            }
        }
        return fork;
    }

    private List<CpuJoinTable> retainedTables() {
        return tables.stream().map(CpuJoinTable::retain).toList();
    }

    @Override
    public TableMemory tableMemory() {
        return TableMemory.ofOne(allocator.availableBytes());
    }

    @Override
    public long capacityBytes() {
        return allocator.limitBytes();
    }

    @Override
    public Object tableLocation() {
        return CpuJoinEngine.class;
    }

    @Override
    protected void append(int dimension, Chunk chunk) {
        if (shared.containsKey(dimension)) {
            throw new IllegalArgumentException(
                    "Build rows for a table shared with another engine: dimension=" + dimension);
        }
        if (!spec().dimensions().get(dimension).isChangelog()) {
            staging.get(dimension).append(chunk);
            return;
        }
        ChangingTable table = changingTable(dimension);
        int generation = table.variableWidthGeneration();
        table.apply(chunk);
        if (pipeline != null && generation != table.variableWidthGeneration()) {
            pipeline.forgetAddresses();
        }
    }

    @Override
    protected boolean buildTables(long maxRows) {
        if (tables.size() == staging.size()) {
            openPipeline();
            return true;
        }
        CpuJoinTable table = buildTable(tables.size(), maxRows);
        if (table != null) {
            tables.add(table);
        }
        return false;
    }

    private ChangingTable changingTable(int dimension) {
        return changing.computeIfAbsent(
                dimension, d -> new ChangingTable(spec().dimensions().get(d), allocator));
    }

    /** Continues to build a table and returns it once it is complete; null before. */
    private @Nullable CpuJoinTable buildTable(int dimension, long maxRows) {
        if (shared.containsKey(dimension)) {
            return shared.remove(dimension);
        }
        DimensionSpec side = spec().dimensions().get(dimension);
        if (side.isChangelog()) {
            return changingTable(dimension).retain();
        }
        if (build == null) {
            build = new TableBuild(staging.get(dimension), side.kind().keepsPayload());
        }
        CpuJoinTable table = build.step(maxRows);
        if (table != null) {
            endBuild();
        }
        return table;
    }

    private void endBuild() {
        if (build != null) {
            build.close();
            build = null;
        }
    }

    private void openPipeline() {
        pipeline = new ProbePipeline(spec(), tables, scratch);
        if (spec().isAggregating()) {
            int batchRows = ProbePipeline.BATCH_ROWS;
            groups =
                    new GroupTable<>(
                            spec().aggregation(),
                            column -> new BatchColumn(spec(), column, batchRows, scratch),
                            batchRows,
                            scratch);
        }
    }

    @Override
    protected Probe open(InFlightProbe pending) {
        return new Probe(pending);
    }

    @Override
    protected @Nullable ResultBatch nextBatch() {
        Probe head = queue().head();
        if (head == null || awaitsDrain()) {
            return null;
        }
        if (!head.opened) {
            pipeline.open(head.chunk(), head.firstRow());
            head.opened = true;
        }
        ResultBatch batch = pipeline.next();
        if (groups != null) {
            groups.add(batch, batch.rowCount());
            batch.set(batch.chunk(), 0, batch.completedRows());
        }
        queue().delivered(batch);
        return batch;
    }

    @Override
    public boolean awaitsDrain() {
        return groups != null && groups.isFull();
    }

    @Override
    protected GroupRows drainedGroups() {
        return groups.drain();
    }

    @Override
    protected long tableBytes() {
        return IntStream.range(0, tables.size())
                        .filter(d -> !notCounted.get(d))
                        .mapToLong(d -> tables.get(d).lengthBytes())
                        .sum()
                + staging.stream().mapToLong(BuildStaging::lengthBytes).sum()
                + changing.entrySet().stream()
                        .filter(e -> e.getKey() >= tables.size())
                        .mapToLong(e -> e.getValue().lengthBytes())
                        .sum();
    }

    @Override
    protected void release() {
        endBuild();
        scratch.close();
        tables.forEach(CpuJoinTable::close);
        tables.clear();
        shared.values().forEach(CpuJoinTable::close);
        shared.clear();
        changing.values().forEach(CpuJoinTable::close);
        changing.clear();
        staging.forEach(BuildStaging::close);
    }
}
