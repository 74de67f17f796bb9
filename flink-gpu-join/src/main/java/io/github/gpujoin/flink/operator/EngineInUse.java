package io.github.gpujoin.flink.operator;

import io.github.gpujoin.core.engine.JoinEngine;

/** What logs and metrics say of a subtask's engine. Its methods may be called by any thread. */
interface EngineInUse {

    /** Name of the engine, or of the engines with a {@code +} between them. */
    String engineName();

    /** Name of the engine, and why it is not the preferred one. */
    String description();

    /** An engine that joins on the device; else any. */
    JoinEngine current();
}
