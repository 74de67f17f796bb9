package io.github.gpujoin.flink.exchange.ring;

import java.util.UUID;
import org.apache.flink.runtime.operators.coordination.CoordinationRequest;

/**
 * Asks a sending operator's coordinator where to write; answered by {@link WriterAddresses}.
 *
 * @param number of {@link WriterReady}
 */
record AddressRequest(UUID number) implements CoordinationRequest {

    private static final long serialVersionUID = 1L;

    @Override
    public String toString() {
        return "AddressRequest"; // the number is a secret
    }
}
