package io.github.gpujoin.flink.distribution;

import org.apache.flink.runtime.operators.coordination.CoordinationRequest;

/** Asks how the measured dimension is distributed; from a subtask that packs facts. */
record FactsQuestion(int subtask, int attempt) implements CoordinationRequest {

    private static final long serialVersionUID = 1L;
}
