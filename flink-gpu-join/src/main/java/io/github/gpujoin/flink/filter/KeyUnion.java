// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.filter;

import io.github.gpujoin.core.filter.KeyFilter;
import io.github.gpujoin.core.filter.KeyFilterBuilder;
import io.github.gpujoin.flink.filter.FilterRequest.Put;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.apache.flink.util.InstantiationUtil;

/**
 * The keys of a dimension in the JobMaster, and how much of them has arrived. Guarded by the {@link
 * FilterExchange}; keys are merged in another thread.
 */
final class KeyUnion {

    /** A filter and its serialized form. */
    record Built(KeyFilter filter, byte[] bytes) {

        private static Built of(KeyFilter filter) {
            try {
                return new Built(filter, InstantiationUtil.serializeObject(filter));
            } catch (IOException e) {
                throw new UncheckedIOException("Cannot serialize a filter: " + filter, e);
            }
        }
    }

    private final KeyFilterBuilder keys;
    private final Executor worker;
    private final Set<String> missing;

    /** Number of the next piece, by process. */
    private final Map<String, Integer> next = new HashMap<>();

    private CompletableFuture<Void> merged = CompletableFuture.completedFuture(null);

    /**
     * @param processes that send keys
     * @param worker merges keys
     */
    KeyUnion(int maxBytes, Collection<String> processes, Executor worker) {
        this.keys = new KeyFilterBuilder(maxBytes);
        this.missing = new HashSet<>(processes);
        this.worker = worker;
    }

    /** Returns the processes that have not sent all of their keys. */
    Set<String> missing() {
        return missing;
    }

    /** Adds a piece, and returns false if it has arrived before. */
    boolean add(Put put) {
        if (put.index() != next.getOrDefault(put.process(), 0)) {
            return false;
        }
        next.put(put.process(), put.index() + 1);
        merged = merged.thenRunAsync(() -> keys.add(put.piece()), worker);
        if (put.isLast()) {
            missing.remove(put.process());
        }
        return true;
    }

    /** Completes when the keys that have arrived are merged. */
    CompletableFuture<Void> merged() {
        return merged;
    }

    /** Completes with the filter of the keys that have arrived; empty if they are too many. */
    CompletableFuture<Optional<Built>> build() {
        return merged.thenApplyAsync(done -> keys.build().map(Built::of), worker);
    }
}
