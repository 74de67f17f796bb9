package io.github.gpujoin.hybrid;

import io.github.gpujoin.core.engine.JoinEngine;

/**
 * A unit on its way to another place. Not thread-safe.
 *
 * <pre>
 *   LOADING --- tables are complete, or none are needed ---> WAITING
 *   WAITING --- all chunks of the old engine are answered --> DONE
 *   LOADING, WAITING --- given up, cancelled ---------------> DONE
 * </pre>
 */
final class UnitMove {

    private enum State {
        LOADING,
        WAITING,
        DONE;

        State to(State next) {
            if (next.compareTo(this) <= 0) {
                throw new IllegalStateException(
                        "a move goes from LOADING to WAITING to DONE: state="
                                + this
                                + ", next="
                                + next);
            }
            return next;
        }
    }

    private final Unit unit;
    private final Place target;
    private final PlaceEngines engines;
    private State state = State.LOADING;

    /** Null before the first step, and after the last chunk. */
    private TableLoad load;

    /**
     * @param engines of the target; null where it has no tables
     */
    UnitMove(Unit unit, Place target, PlaceEngines engines) {
        this.unit = unit;
        this.target = target;
        this.engines = engines;
    }

    Unit unit() {
        return unit;
    }

    Place target() {
        return target;
    }

    boolean isLoading() {
        return state == State.LOADING;
    }

    /** Whether there is still a reason to go, and a place to go to. */
    boolean isPossible() {
        return unit.place() != target && (engines == null || engines.isOpen());
    }

    /**
     * Goes on with tables that are not complete, by about a chunk.
     *
     * @param buildSteps of the engine there, at most
     * @throws io.github.gpujoin.core.engine.EngineUnavailableException where there is no room, for
     *     the caller to {@linkplain #giveUp() give up}
     */
    void step(int dimension, BuildChunks log, long maxRows, int buildSteps) {
        if (!isLoading()) {
            return;
        }
        if (engines == null) {
            awaitUnit(null);
        } else if (load == null) {
            load =
                    new TableLoad(
                            engines.newEngine(dimension),
                            dimension,
                            log.ofPartitions(unit.firstPartition(), unit.endPartition()));
        } else if (load.step(maxRows, buildSteps)) {
            JoinEngine engine = load.take();
            awaitUnit(engine);
            engines.tookBytes(engine.stats().tableBytes(), unit.buildBytes());
        }
    }

    private void awaitUnit(JoinEngine engine) {
        state = state.to(State.WAITING);
        load = null;
        unit.moveTo(target, engine);
    }

    /**
     * Ends the move where the unit {@linkplain Unit#move() can go}, which is for the caller to do.
     *
     * @return whether it can
     */
    boolean finish() {
        boolean finished = state == State.WAITING && unit.canMove();
        if (finished) {
            state = state.to(State.DONE);
        }
        return finished;
    }

    /** The target has no room for the tables; it is remembered how little that is. */
    void giveUp() {
        cancel();
        unit.refusedBy(target, engines.availableBytes());
    }

    /** The unit stays where it is. */
    void cancel() {
        state = state.to(State.DONE);
        if (load != null) {
            load.close();
            load = null;
        }
        unit.stay();
    }
}
