// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.simulation;

import io.github.gpujoin.core.engine.ForkableJoinEngine;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import io.github.gpujoin.kernels.gpu.GpuOptions;
import io.github.gpujoin.kernels.gpu.HostDevice;
import io.github.gpujoin.kernels.gpu.HostKernels;
import io.github.gpujoin.kernels.gpu.TableSpread;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.opentest4j.TestAbortedException;

/**
 * The GPU engine on devices of CPU threads, for all subtasks of a life. {@link VirtualTimeLoader}
 * leaves the real clock to this class and to the engine, because the kernel's threads run in real
 * time.
 *
 * <p>How often a poll finds nothing depends on the seed, not on the kernel: a poll returns null
 * some times whatever the kernel has done, and then waits for its results in real time.
 */
final class HostGpu implements JoinEngineFactory, AutoCloseable {

    /** Of {@link JobShape#engine}. */
    static final String NAME = "host-gpu";

    private static final long serialVersionUID = 1L;

    /** Small segments, so that chunks of some rows fill several, and all slots. */
    private static final GpuOptions OPTIONS = GpuOptions.defaults().withSlots(3, 4);

    /** Limit of a poll; the engine itself reports a kernel that gives nothing for 30 seconds. */
    private static final long MAX_WAIT_NS = TimeUnit.SECONDS.toNanos(1);

    /** After so much time without results a poll sleeps between two looks. */
    private static final long SPIN_NS = TimeUnit.MICROSECONDS.toNanos(50);

    private static final int MAX_EMPTY_POLLS = 4;
    private static final int MAX_DEVICES = 3;

    private final transient HostDevice device;
    private final transient Random random;
    private final long bytesAtStart;

    private HostGpu(HostDevice device, long seed) {
        this.device = device;
        this.random = new Random(seed);
        this.bytesAtStart = device.usedBytes();
    }

    /**
     * Opens the device, which lives on other threads wait for.
     *
     * @return null without a C++ compiler
     */
    static HostGpu open(long seed) {
        HostKernels.IN_USE.lock();
        try {
            return new HostGpu(HostDevice.open(options(seed)), seed);
        } catch (TestAbortedException e) {
            HostKernels.IN_USE.unlock();
            return null;
        } catch (Exception | Error e) {
            HostKernels.IN_USE.unlock();
            throw new IllegalStateException("The device of CPU threads does not open.", e);
        }
    }

    /** Returns one to three devices, with tables on each or divided. */
    private static GpuOptions options(long seed) {
        // First numbers of random generators with neighbouring seeds are alike.
        int devices = 1 + (int) Math.floorMod(seed, (long) MAX_DEVICES);
        boolean isSharded = Math.floorMod(seed / MAX_DEVICES, 2L) == 0;
        return OPTIONS.withDevices(IntStream.range(0, devices).boxed().toList())
                .withSpread(isSharded ? TableSpread.SHARDED : TableSpread.REPLICATED);
    }

    @Override
    public String engineName() {
        return NAME;
    }

    @Override
    public JoinEngine create(JoinSpec spec) {
        return paced(device.create(spec));
    }

    /** Fails if an engine has kept memory of the device; to be called once all are closed. */
    void requireUnused() {
        long bytes = device.usedBytes();
        if (bytes != bytesAtStart) {
            throw new LifeFailure(
                    "memory of the device leaks: bytes=" + bytes + ", atStart=" + bytesAtStart);
        }
    }

    @Override
    public void close() {
        try {
            device.close();
        } finally {
            HostKernels.IN_USE.unlock();
        }
    }

    private ForkableJoinEngine paced(Object engine) {
        return (ForkableJoinEngine)
                Proxy.newProxyInstance(
                        HostGpu.class.getClassLoader(),
                        new Class<?>[] {ForkableJoinEngine.class},
                        new Paced((ForkableJoinEngine) engine));
    }

    /** An engine whose polls find nothing by the seed's choice. */
    private final class Paced implements InvocationHandler {

        private final ForkableJoinEngine engine;
        private int emptyPolls;

        Paced(ForkableJoinEngine engine) {
            this.engine = engine;
        }

        @Override
        public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
            try {
                if (method.getName().equals("poll")) {
                    return poll();
                }
                Object result = method.invoke(engine, arguments);
                return result instanceof ForkableJoinEngine fork ? paced(fork) : result;
            } catch (InvocationTargetException e) {
                throw failed(e.getCause());
            } catch (GpuUnavailableException e) {
                throw failed(e);
            }
        }

        /** The join would go on without a device that fails, and hide the defect. */
        private Throwable failed(Throwable e) {
            return e instanceof GpuUnavailableException gpu
                            && (gpu.failure() == GpuFailure.DEVICE_LOST
                                    || gpu.failure() == GpuFailure.KERNEL_STALLED)
                    ? new AssertionError("the device of CPU threads fails: " + e, e)
                    : e;
        }

        private ResultBatch poll() {
            if (emptyPolls > 0 && engine.inFlightCount() > 0) {
                emptyPolls--;
                return null;
            }
            long startNs = System.nanoTime();
            ResultBatch batch = engine.poll();
            while (batch == null && engine.inFlightCount() > 0 && !engine.awaitsDrain()) {
                long waitedNs = System.nanoTime() - startNs;
                if (waitedNs > MAX_WAIT_NS) {
                    return null;
                }
                if (waitedNs > SPIN_NS) {
                    Thread.yield();
                }
                batch = engine.poll();
            }
            emptyPolls = random.nextInt(MAX_EMPTY_POLLS);
            return batch;
        }
    }
}
