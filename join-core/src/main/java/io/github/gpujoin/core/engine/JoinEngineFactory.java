package io.github.gpujoin.core.engine;

import java.io.Serializable;

/** Makes engines of one kind; travels with the job. */
public interface JoinEngineFactory extends Serializable {

    /** Name of the kind, as in the option that chooses it: {@code cpu}, {@code reference}. */
    String engineName();

    JoinEngine create(JoinSpec spec);
}
