// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.eventtime;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.state.FullKey;
import io.github.gpujoin.flink.state.FullKeys;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A map by full key. Keys with equal hashes form a list behind their hash. */
final class VersionsByKey {

    private final LongKeyMap<VersionsOfKey> firstOfInteger = new LongKeyMap<>();

    /**
     * Returns the versions of a row's key, or null.
     *
     * @param keys of the chunk's side
     */
    @Nullable VersionsOfKey get(FullKeys keys, Chunk chunk, int row) {
        VersionsOfKey versions = firstOfInteger.get(keys.integer(chunk, row));
        if (keys.areHashed()) {
            while (versions != null && !keys.isEqual(versions.key(), chunk, row)) {
                versions = versions.nextOfHash();
            }
        }
        return versions;
    }

    /** Returns the versions of a key, or null. */
    @Nullable VersionsOfKey get(FullKey key) {
        VersionsOfKey versions = firstOfInteger.get(key.integer());
        while (versions != null && !versions.key().equals(key)) {
            versions = versions.nextOfHash();
        }
        return versions;
    }

    /** Adds a key that has no entry. */
    void add(VersionsOfKey versions) {
        long integer = versions.key().integer();
        versions.setNextOfHash(firstOfInteger.get(integer));
        firstOfInteger.put(integer, versions);
    }

    /** Removes a key that has an entry. */
    void remove(VersionsOfKey versions) {
        long integer = versions.key().integer();
        VersionsOfKey next = versions.nextOfHash();
        VersionsOfKey before = firstOfInteger.get(integer);
        if (before != versions) {
            while (before.nextOfHash() != versions) {
                before = before.nextOfHash();
            }
            before.setNextOfHash(next);
        } else if (next == null) {
            firstOfInteger.remove(integer);
        } else {
            firstOfInteger.put(integer, next);
        }
    }

    void forEach(Consumer<VersionsOfKey> consumer) {
        firstOfInteger.forEachValue(
                first -> {
                    for (VersionsOfKey v = first; v != null; v = v.nextOfHash()) {
                        consumer.accept(v);
                    }
                });
    }
}
