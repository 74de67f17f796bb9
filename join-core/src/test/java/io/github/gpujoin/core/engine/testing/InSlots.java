// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.engine.testing;

import io.github.gpujoin.core.encoding.ChunkDecoder;
import io.github.gpujoin.core.encoding.PlannedChunks;
import io.github.gpujoin.core.engine.EngineState;
import io.github.gpujoin.core.engine.EngineStats;
import io.github.gpujoin.core.engine.GroupRows;
import io.github.gpujoin.core.engine.InFlightProbe;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkFormatException;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.core.slot.CountedSlot;
import java.io.Serializable;
import java.util.ArrayDeque;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Engines that receive copies of chunks, in slots or encoded. Their callers see the chunks that
 * they submitted. A slot is overwritten as soon as it is released, so that an engine that still
 * reads it returns wrong results.
 */
public final class InSlots implements JoinEngineFactory {

    private static final long serialVersionUID = 1L;
    private static final byte OVERWRITTEN = (byte) 0xA5;

    private final JoinEngineFactory factory;
    private final Copier copier;

    /** Copies a chunk. */
    public interface Copier extends Serializable {
        Chunk copyOf(Chunk chunk);
    }

    public InSlots(JoinEngineFactory factory, Copier copier) {
        this.factory = factory;
        this.copier = copier;
    }

    /**
     * @param isVerified whether slots say that all their bytes have arrived
     */
    public InSlots(JoinEngineFactory factory, boolean isVerified) {
        this(factory, chunk -> copyOf(chunk, isVerified));
    }

    /** Returns engines whose chunks are encoded by all plans, on the heap. */
    public static InSlots encodedOnHeap(JoinEngineFactory factory) {
        return new InSlots(
                factory,
                chunk -> ChunkDecoder.open(chunk.schema(), PlannedChunks.encode(chunk).clone()));
    }

    /** Returns engines whose chunks are encoded by all plans, in slots. */
    public static InSlots encoded(JoinEngineFactory factory) {
        return encoded(factory, true);
    }

    /**
     * @param isVerified whether slots say that all their bytes have arrived
     */
    public static InSlots encoded(JoinEngineFactory factory, boolean isVerified) {
        return new InSlots(factory, chunk -> encodedCopyOf(chunk, isVerified));
    }

    /** Returns a copy of a chunk in a region of its own, encoded by all plans. */
    public static Chunk encodedCopyOf(Chunk chunk, boolean isVerified) {
        return copyOf(chunk.schema(), PlannedChunks.encode(chunk), isVerified);
    }

    /** Returns a copy of a chunk in a region of its own. */
    public static Chunk copyOf(Chunk chunk, boolean isVerified) {
        return copyOf(chunk.schema(), chunk.bytes(), isVerified);
    }

    /**
     * Returns the chunk that bytes contain, in a region of its own.
     *
     * @throws ChunkFormatException if they contain none
     */
    public static Chunk copyOf(ChunkSchema schema, byte[] bytes, boolean isVerified) {
        Region region = Region.allocate(bytes.length);
        Memory.copy(bytes, Memory.BYTES, null, region.address(), bytes.length);
        CountedSlot slot =
                new CountedSlot(region, region.address()) {
                    @Override
                    public boolean isVerified() {
                        return isVerified;
                    }

                    @Override
                    protected void released() {
                        Memory.fill(null, region.address(), bytes.length, OVERWRITTEN);
                    }
                };
        region.close();
        try {
            return ChunkDecoder.inSlot(schema, slot, bytes.length);
        } catch (ChunkFormatException e) {
            slot.release();
            throw e;
        }
    }

    @Override
    public String engineName() {
        return factory.engineName();
    }

    @Override
    public JoinEngine create(JoinSpec spec) {
        return new Engine(factory.create(spec));
    }

    private record Probe(Chunk submitted, Chunk inSlot) {}

    private final class Engine implements JoinEngine {

        private final JoinEngine engine;
        private final ArrayDeque<Probe> probes = new ArrayDeque<>();

        /** The chunk of the last batch, which its reader may still use; null if there is none. */
        private @Nullable Chunk emitted;

        Engine(JoinEngine engine) {
            this.engine = engine;
        }

        @Override
        public boolean submitProbe(Chunk chunk, int firstRow) {
            Chunk inSlot = copier.copyOf(chunk);
            try {
                if (engine.submitProbe(inSlot, firstRow)) {
                    probes.add(new Probe(chunk, inSlot));
                    return true;
                }
            } catch (RuntimeException e) {
                inSlot.release();
                throw e;
            }
            inSlot.release();
            return false;
        }

        @Override
        public @Nullable ResultBatch poll() {
            releaseEmitted();
            ResultBatch batch = engine.poll();
            if (batch == null) {
                return null;
            }
            Probe probe = probes.element();
            if (batch.chunk() != probe.inSlot) {
                throw new AssertionError("batch of another chunk: " + batch.chunk());
            }
            if (batch.isLast()) {
                probes.remove();
                emitted = probe.inSlot;
            }
            batch.set(probe.submitted, batch.rowCount(), batch.completedRows());
            return batch;
        }

        private void releaseEmitted() {
            if (emitted != null) {
                emitted.release();
                emitted = null;
            }
        }

        @Override
        public List<InFlightProbe> snapshot() {
            List<Probe> pending = List.copyOf(probes);
            List<InFlightProbe> inSlots = engine.snapshot();
            return IntStream.range(0, pending.size())
                    .mapToObj(
                            i ->
                                    new InFlightProbe(
                                            pending.get(i).submitted, inSlots.get(i).firstRow()))
                    .toList();
        }

        @Override
        public void restore(List<InFlightProbe> pending) {
            List<Probe> restored =
                    pending.stream()
                            .map(InFlightProbe::chunk)
                            .map(chunk -> new Probe(chunk, copier.copyOf(chunk)))
                            .toList();
            try {
                engine.restore(
                        IntStream.range(0, pending.size())
                                .mapToObj(
                                        i ->
                                                new InFlightProbe(
                                                        restored.get(i).inSlot,
                                                        pending.get(i).firstRow()))
                                .toList());
            } catch (RuntimeException e) {
                restored.forEach(probe -> probe.inSlot.release());
                throw e;
            }
            probes.addAll(restored);
        }

        @Override
        public JoinSpec spec() {
            return engine.spec();
        }

        @Override
        public EngineState state() {
            return engine.state();
        }

        @Override
        public void submitBuild(int dimension, Chunk chunk) {
            Chunk inSlot = copier.copyOf(chunk);
            try {
                engine.submitBuild(dimension, inSlot);
            } finally {
                inSlot.release();
            }
        }

        @Override
        public boolean buildStep(long maxRows) {
            return engine.buildStep(maxRows);
        }

        @Override
        public boolean verifiesSlots() {
            return engine.verifiesSlots();
        }

        @Override
        public boolean awaitsDrain() {
            return engine.awaitsDrain();
        }

        @Override
        public GroupRows drainGroups() {
            return engine.drainGroups();
        }

        @Override
        public int inFlightCount() {
            return engine.inFlightCount();
        }

        @Override
        public EngineStats stats() {
            return engine.stats();
        }

        @Override
        public void close() {
            engine.close();
            releaseEmitted();
            while (!probes.isEmpty()) {
                probes.remove().inSlot.release();
            }
        }
    }
}
