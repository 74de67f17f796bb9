// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Creates {@link GpuJoinEngine}s with fixed options. */
public final class GpuJoinEngineFactory implements JoinEngineFactory {

    private static final long serialVersionUID = 1L;

    private final GpuOptions options;
    private final transient @Nullable MemoryReservations hostMemory;

    /** Creates a factory with {@link GpuOptions#defaults()}. */
    public GpuJoinEngineFactory() {
        this(GpuOptions.defaults());
    }

    public GpuJoinEngineFactory(GpuOptions options) {
        this(options, null);
    }

    private GpuJoinEngineFactory(GpuOptions options, @Nullable MemoryReservations hostMemory) {
        this.options = options;
        this.hostMemory = hostMemory;
    }

    /**
     * Returns why no GPU supports this join: it has too many dimensions or fact columns. Empty if
     * one may. Does not open a device.
     */
    public static Optional<GpuUnavailableException> unsupported(JoinSpec spec) {
        try {
            JoinPlan.requireFits(spec, new FactSegments(spec, false));
            return Optional.empty();
        } catch (GpuUnavailableException refused) {
            return Optional.of(refused);
        }
    }

    @Override
    public String engineName() {
        return "gpu";
    }

    /** {@inheritDoc} Engines reserve pinned memory and variable-width columns of build rows. */
    @Override
    public GpuJoinEngineFactory within(MemoryReservations reservations) {
        return new GpuJoinEngineFactory(options, reservations);
    }

    /**
     * Creates an engine. The first one of a device opens the device and loads its kernels.
     *
     * @throws GpuUnavailableException if the device of the options cannot run this join
     */
    @Override
    public JoinEngine create(JoinSpec spec) {
        return hostMemory == null
                ? new GpuJoinEngine(spec, options)
                : new GpuJoinEngine(spec, options, hostMemory);
    }
}
