package io.github.gpujoin.core.engine;

import io.github.gpujoin.core.region.MemoryReservations;
import java.io.Serializable;

/** Makes engines of one kind; travels with the job. */
public interface JoinEngineFactory extends Serializable {

    /** Name of the kind, as in the option that chooses it: {@code cpu}, {@code reference}. */
    String engineName();

    JoinEngine create(JoinSpec spec);

    /**
     * A factory of the same engines, whose host memory is reserved first. Not serializable.
     *
     * @return this factory where its engines have a budget of their own, or none
     */
    default JoinEngineFactory within(MemoryReservations hostMemory) {
        return this;
    }
}
