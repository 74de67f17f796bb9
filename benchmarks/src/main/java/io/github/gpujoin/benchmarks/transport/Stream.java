package io.github.gpujoin.benchmarks.transport;

/** Chunks under way until it is closed; every one is copied out into an array where it arrives. */
public interface Stream extends AutoCloseable {

    Arrivals arrivals();

    /**
     * @throws Exception where the sender, the receiver or what is between them has failed
     */
    void check() throws Exception;

    @Override
    void close() throws Exception;

    /** Opens streams of one kind. */
    interface Opener {
        Stream open(Shipment shipment) throws Exception;
    }
}
