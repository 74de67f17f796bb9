// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.ring;

/**
 * The slots that a reader has taken from a ring and not yet released. A reader releases them in any
 * order, but the writer only learns of a sequence up to which all are released.
 *
 * <pre>
 *   released          taken               next
 *   ------------------------------------------------------
 *   1 .. released | held, free, held ... | taken + 1 ..         sequences
 * </pre>
 *
 * <p>A window outlives a connection: a writer that reconnects sends the held slots again, in
 * another ring, and their readers continue with the old one. Not thread-safe.
 */
public final class ReadWindow {

    /** Whether a taken slot is free, by its number; only meaningful between the two sequences. */
    private final boolean[] isFree;

    private long releasedSequence;
    private long takenSequence;
    private int lossCount;

    /**
     * @param slotCount of the ring
     * @param releasedSequence last released sequence; the next one is taken first
     */
    public ReadWindow(int slotCount, long releasedSequence) {
        this.isFree = new boolean[slotCount];
        this.releasedSequence = releasedSequence;
        this.takenSequence = releasedSequence;
    }

    /** Takes the next slot, which the reader then holds. Returns its sequence. */
    public long take() {
        if (heldCount() == isFree.length) {
            throw new IllegalStateException("Slot is taken twice: sequence=" + (takenSequence + 1));
        }
        takenSequence++;
        lossCount = 0;
        isFree[indexOf(takenSequence)] = false;
        return takenSequence;
    }

    /**
     * Records that the next slot, although sent, did not arrive intact, so that it is sent again.
     *
     * @return how often that happened to this slot, in all connections
     */
    public int recordLoss() {
        return ++lossCount;
    }

    /**
     * Releases a slot that the reader holds.
     *
     * @throws IllegalStateException if it does not hold the slot
     */
    public void release(long sequence) {
        if (sequence <= releasedSequence || sequence > takenSequence || isFree[indexOf(sequence)]) {
            throw new IllegalStateException(
                    "Slot is released that is not held: sequence="
                            + sequence
                            + ", releasedSequence="
                            + releasedSequence
                            + ", takenSequence="
                            + takenSequence);
        }
        isFree[indexOf(sequence)] = true;
        while (releasedSequence < takenSequence && isFree[indexOf(releasedSequence + 1)]) {
            releasedSequence++;
        }
    }

    private int indexOf(long sequence) {
        return (int) ((sequence - 1) % isFree.length);
    }

    /** Returns the last sequence up to which all slots are released, the writer's credit. */
    public long releasedSequence() {
        return releasedSequence;
    }

    /** Returns the last sequence that was taken. */
    public long takenSequence() {
        return takenSequence;
    }

    /** Returns the number of slots that the writer may not reuse. */
    public int heldCount() {
        return (int) (takenSequence - releasedSequence);
    }
}
