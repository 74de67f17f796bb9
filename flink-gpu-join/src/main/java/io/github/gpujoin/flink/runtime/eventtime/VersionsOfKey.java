// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.eventtime;

import io.github.gpujoin.flink.state.FullKey;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Versions of a key that are not in the table. */
final class VersionsOfKey {

    /** Value of {@link #timer} if no version arrived since the key was last evaluated. */
    static final long NO_TIMER = Long.MAX_VALUE;

    private final FullKey key;
    private final int partition;

    /** By event time. Of two versions of one time, the one that arrived last counts. */
    private final TreeMap<Long, DueVersion> due = new TreeMap<>();

    /** Count of versions that are not due. */
    private int waiting;

    /** Smallest event time of the versions that arrived since the key was last evaluated, in ms. */
    private long timer = NO_TIMER;

    /** Whether a version has not moved the timer, because it arrived before an evaluation. */
    private boolean timerIsLater;

    private long evaluatedPass = -1;
    private boolean queued;
    private boolean isSeen;

    /** Another key of the same hash, in {@link VersionsByKey}. */
    private @Nullable VersionsOfKey nextOfHash;

    VersionsOfKey(FullKey key, int partition) {
        this.key = key;
        this.partition = partition;
    }

    FullKey key() {
        return key;
    }

    @Nullable VersionsOfKey nextOfHash() {
        return nextOfHash;
    }

    void setNextOfHash(@Nullable VersionsOfKey next) {
        nextOfHash = next;
    }

    int partition() {
        return partition;
    }

    /** Adds a version that arrives, and is not due yet. */
    void arrived(long time) {
        waiting++;
        timer = Math.min(timer, time);
    }

    /** Removes one of the versions that wait. */
    void removeWaiting() {
        waiting--;
    }

    /** Adds a due version; returns the one that it replaces, or null. */
    @Nullable DueVersion put(DueVersion version) {
        return due.put(version.time(), version);
    }

    /** Adds a due version unless there is one of its time; returns that one, or null. */
    @Nullable DueVersion putIfAbsent(DueVersion version) {
        return due.putIfAbsent(version.time(), version);
    }

    /** Sets the timer of a snapshot. */
    void restoreTimer(long time) {
        timer = time;
        timerIsLater = true;
    }

    /** Whether the key is evaluated in this pass, or has to be. */
    boolean mustEvaluate(long pass, long watermark) {
        return evaluatedPass == pass || timer <= watermark;
    }

    void evaluate(long pass) {
        if (evaluatedPass != pass) {
            evaluatedPass = pass;
            timer = NO_TIMER;
            timerIsLater = true;
        }
    }

    long timer() {
        return timer;
    }

    /** Whether the timer is not simply the time of the oldest version. */
    boolean timerIsLater() {
        return timerIsLater;
    }

    /** Marks the key as queued; returns whether it was not. */
    boolean queue() {
        boolean before = queued;
        queued = true;
        return !before;
    }

    void dequeue() {
        queued = false;
    }

    /** Returns the newest due version of a time or before it, or null. */
    @Nullable DueVersion at(long time) {
        var entry = due.floorEntry(time);
        return entry == null ? null : entry.getValue();
    }

    /** Returns the oldest due version that a due fact sees, or null. */
    @Nullable DueVersion firstWithFacts() {
        for (DueVersion version : due.values()) {
            if (!version.facts().isEmpty()) {
                return version;
            }
        }
        return null;
    }

    /** Marks the key as one whose versions are seen; returns whether it was not. */
    boolean markSeen() {
        boolean before = isSeen;
        isSeen = true;
        return !before;
    }

    void endSeen() {
        isSeen = false;
    }

    boolean hasDue() {
        return !due.isEmpty();
    }

    /** Removes the oldest due version if it is of the time or before it; else returns null. */
    @Nullable DueVersion removeUpTo(long time) {
        return due.isEmpty() || due.firstKey() > time ? null : due.pollFirstEntry().getValue();
    }

    boolean isEmpty() {
        return waiting == 0 && due.isEmpty();
    }
}
