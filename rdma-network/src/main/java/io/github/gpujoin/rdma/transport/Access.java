package io.github.gpujoin.rdma.transport;

/** What a registration lets be done with memory: no more than its use needs. */
public enum Access {
    /** This process writes it, and connections read what they send from it. */
    SOURCE,
    /** One peer at a time writes it, this process reads it. */
    TARGET
}
