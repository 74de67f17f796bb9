package io.github.gpujoin.core.ring;

/** What a reader found in the slot that is next. */
public enum SlotState {
    /** The next sequence is not published. */
    EMPTY,
    /** It is published, but its bytes are not all there, or are of another epoch. */
    TORN,
    /** It is there as it was written. */
    READY
}
