package io.github.gpujoin.flink.transport;

/** Inputs of the join operator, as Flink numbers them. */
public enum JoinInput {
    /** Chunks of dimensions. */
    BUILD(1),
    /** Chunks of facts. */
    PROBE(2);

    private final int typeNumber;

    JoinInput(int typeNumber) {
        this.typeNumber = typeNumber;
    }

    /** Number of the input in a {@link org.apache.flink.streaming.api.graph.StreamEdge}. */
    public int typeNumber() {
        return typeNumber;
    }

    /**
     * The input of an edge.
     *
     * @throws IllegalArgumentException where the join has no such input
     */
    public static JoinInput of(int typeNumber) {
        for (JoinInput input : values()) {
            if (input.typeNumber == typeNumber) {
                return input;
            }
        }
        throw new IllegalArgumentException("the join has inputs 1 and 2: input=" + typeNumber);
    }
}
