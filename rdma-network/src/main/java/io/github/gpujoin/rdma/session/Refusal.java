package io.github.gpujoin.rdma.session;

/** Why a reader turns a writer away; the codes are on the wire. */
public enum Refusal {
    VERSION(1, "the reader speaks another version of the protocol", false),
    CHANNEL(2, "the reader has no such channel", false),
    STALE_ATTEMPT(3, "a later attempt writes this channel", false),
    PROOF(4, "the writer does not hold the token of its attempt", false),
    BUSY(5, "another connection of the same channel came before this one was accepted", true);

    private final byte code;
    private final String sentence;
    private final boolean worthARetry;

    Refusal(int code, String sentence, boolean worthARetry) {
        this.code = (byte) code;
        this.sentence = sentence;
        this.worthARetry = worthARetry;
    }

    byte code() {
        return code;
    }

    String sentence() {
        return sentence;
    }

    /** Whether the same writer may be let in later. */
    boolean isWorthARetry() {
        return worthARetry;
    }

    static Refusal of(byte code) throws ProtocolException {
        for (Refusal refusal : values()) {
            if (refusal.code == code) {
                return refusal;
            }
        }
        throw new ProtocolException("refusals have codes 1 to 5: code=" + code);
    }
}
