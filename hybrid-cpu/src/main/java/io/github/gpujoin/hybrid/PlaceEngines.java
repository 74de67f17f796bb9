package io.github.gpujoin.hybrid;

import io.github.gpujoin.core.engine.EngineUnavailableException;
import io.github.gpujoin.core.engine.EngineUnavailableException.Scope;
import io.github.gpujoin.core.engine.ForkableJoinEngine;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinSpec;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A place with memory for tables, the tables there that all units share, and what a table there
 * takes. A place that failed is one without room. Not thread-safe.
 */
final class PlaceEngines implements AutoCloseable {

    /** Memory while a table is made, for each byte of it: rows as they came beside the table. */
    static final double PEAK = 2.5;

    /** Memory may be short for a moment, since others take and give back theirs. */
    private static final int MIN_ATTEMPTS = 3;

    /** The host is the last place there is, so it is waited for. */
    private static final long HOST_WAIT_NS = TimeUnit.SECONDS.toNanos(1);

    private static final long RETRY_NS = TimeUnit.MILLISECONDS.toNanos(1);

    private final Place place;
    private final JoinEngineFactory factory;
    private volatile ForkableJoinEngine shared;
    private volatile EngineUnavailableException failure;
    private double bytesPerBuildByte = 1;

    /** Of the tables that all units share; null unless they are being made. */
    private TableLoad load;

    private int attempts;
    private long startNs;

    /**
     * @param factory of forkable engines; null for a place that is not there
     */
    PlaceEngines(Place place, JoinEngineFactory factory) {
        this.place = place;
        this.factory = factory;
    }

    Place place() {
        return place;
    }

    /** The engine with the tables that all units share; null unless open. */
    JoinEngine shared() {
        return shared;
    }

    /** Memory of those tables. */
    long sharedBytes() {
        return shared == null ? 0 : shared.stats().tableBytes();
    }

    boolean isOpen() {
        return shared != null;
    }

    /** Why the place cannot be used; null where it can, or is not there. */
    EngineUnavailableException failure() {
        return failure;
    }

    /**
     * Does the next part of making the tables that all units share. On the host it waits for
     * memory, at most a second longer than that takes.
     *
     * @return whether the place is open, or cannot be used
     * @throws EngineUnavailableException where they do not fit
     */
    boolean openStep(JoinSpec spec, BuildChunks log, long maxRows) {
        if (factory == null || failure != null || isOpen()) {
            return true;
        }
        if (attempts == 0) {
            startNs = System.nanoTime();
            attempts = 1;
        }
        try {
            if (load == null) {
                load = new TableLoad(factory.create(spec), log.replicated());
            }
            if (load.step(maxRows, 1)) {
                shared = (ForkableJoinEngine) load.take();
                load = null;
            }
        } catch (EngineUnavailableException e) {
            refused(e);
        }
        return isOpen();
    }

    /** Tries again later, or gives up. */
    private void refused(EngineUnavailableException e) {
        closeLoad();
        long waitNs = place == Place.HOST ? HOST_WAIT_NS : 0;
        boolean waited = System.nanoTime() - startNs >= waitNs;
        if (e.scope() == Scope.PLACE || attempts >= MIN_ATTEMPTS && waited) {
            throw e;
        }
        attempts++;
        if (!waited) {
            LockSupport.parkNanos(RETRY_NS);
        }
    }

    private void closeLoad() {
        if (load != null) {
            load.close();
            load = null;
        }
    }

    /** An engine LOADING a unit. */
    JoinEngine newEngine(int dimension) {
        return shared.forkLoading(dimension);
    }

    long availableBytes() {
        return shared == null ? 0 : shared.availableBytes();
    }

    /** What tables of so many bytes of build rows take here, by what others took. */
    long tableBytes(long buildBytes) {
        return (long) (bytesPerBuildByte * buildBytes);
    }

    /** What is needed while they are made. */
    long peakBytes(long buildBytes) {
        return (long) (PEAK * buildBytes);
    }

    void tookBytes(long tableBytes, long buildBytes) {
        if (buildBytes > 0) {
            bytesPerBuildByte = (double) tableBytes / buildBytes;
        }
    }

    /** Gives the place up. Engines made by it are closed by whoever has them. */
    void lose(EngineUnavailableException e) {
        failure = e;
        close();
    }

    @Override
    public void close() {
        closeLoad();
        if (shared != null) {
            shared.close();
            shared = null;
        }
    }
}
