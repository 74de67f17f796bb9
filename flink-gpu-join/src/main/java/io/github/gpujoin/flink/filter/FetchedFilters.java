// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.filter;

import io.github.gpujoin.core.filter.KeyFilter;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.apache.flink.util.InstantiationUtil;

/**
 * A filter of another process, which this process fetches once for all tasks that need it.
 * Thread-safe.
 */
final class FetchedFilters implements AutoCloseable {

    private record Id(String process, String generation, int dimension) {}

    /** Each until its last user closes it. */
    private static final Map<Id, FetchedFilters> ALL = new HashMap<>();

    private final Id id;
    private final FilterClient client;
    private final CompletableFuture<Optional<KeyFilter>> filter = new CompletableFuture<>();
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private int users;

    private FetchedFilters(Id id, FilterClient client) {
        this.id = id;
        this.client = client;
    }

    /**
     * Returns a filter for one more user, which closes it. The first user starts to fetch it.
     *
     * @param process TaskManager of the user
     * @param generation of the filter
     * @param clients creates a client that outlives the user
     */
    static FetchedFilters of(
            String process, String generation, int dimension, Supplier<FilterClient> clients) {
        Id id = new Id(process, generation, dimension);
        FetchedFilters fetched;
        boolean isFirst;
        synchronized (ALL) {
            isFirst = !ALL.containsKey(id);
            fetched = ALL.computeIfAbsent(id, key -> new FetchedFilters(key, clients.get()));
            fetched.users++;
        }
        if (isFirst) {
            fetched.fetch();
        }
        return fetched;
    }

    /** Completes with the filter, or with nothing if it cannot be fetched. */
    CompletableFuture<Optional<KeyFilter>> filter() {
        return filter;
    }

    private void fetch() {
        client.send(new FilterRequest.Fetch(id.generation(), id.dimension(), bytes.size()))
                .thenAccept(this::fetched)
                .exceptionally(
                        failure -> {
                            filter.completeExceptionally(failure);
                            return null;
                        });
    }

    private void fetched(FilterResponse response) {
        if (!response.isOk()) {
            filter.complete(Optional.empty());
        } else if (response.bytes().length > 0) {
            bytes.writeBytes(response.bytes());
            fetch();
        } else {
            filter.complete(Optional.of(read(bytes.toByteArray())));
            bytes.reset();
        }
    }

    private static KeyFilter read(byte[] bytes) {
        try {
            return InstantiationUtil.deserializeObject(bytes, KeyFilter.class.getClassLoader());
        } catch (IOException | ClassNotFoundException e) {
            throw new IllegalStateException("Fetched filter is damaged: bytes=" + bytes.length, e);
        }
    }

    @Override
    public void close() {
        synchronized (ALL) {
            users--;
            if (users == 0) {
                ALL.remove(id, this);
                client.close();
            }
        }
    }
}
