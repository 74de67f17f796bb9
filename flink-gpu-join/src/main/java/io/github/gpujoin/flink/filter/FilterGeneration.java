// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.filter;

import static io.github.gpujoin.flink.filter.FilterRequest.dimensions;

import io.github.gpujoin.core.filter.KeyFilter;
import io.github.gpujoin.core.filter.KeyFilterBuilder;
import io.github.gpujoin.flink.filter.FilterRequest.Announce;
import io.github.gpujoin.flink.filter.FilterRequest.Ask;
import io.github.gpujoin.flink.filter.FilterRequest.Fetch;
import io.github.gpujoin.flink.filter.FilterRequest.Offer;
import io.github.gpujoin.flink.filter.FilterRequest.Put;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.apache.flink.runtime.executiongraph.ExecutionAttemptID;
import org.apache.flink.runtime.jobgraph.JobVertexID;
import org.apache.flink.util.InstantiationUtil;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The keys of the dimensions of one attempt of a whole join, in the JobMaster. Each process of the
 * join offers keys once its subtasks are complete, and sends those that a task in another process
 * needs: of a whole dimension one process, of a partitioned one each process its part, since the
 * union of the parts is the filter. The union is made here, so that each process fetches one filter
 * instead of the parts of all others.
 *
 * <p>The JobMaster holds at most {@value #MAX_BYTES} bytes of keys of a join while they arrive, as
 * many of finished filters, and a piece of {@value #PIECE_BYTES} bytes from each process.
 * Dimensions beyond that have no filter in other processes.
 *
 * <p>Keys are merged in another thread, since a Bloom filter of some millions of keys takes a
 * second. All else is guarded by the {@link FilterExchange}.
 */
final class FilterGeneration {

    private static final Logger LOG = LoggerFactory.getLogger(FilterGeneration.class);

    static final long MAX_BYTES = 16 << 20;

    /** Each process sends one piece at a time, so that few bytes wait in Flink's RPC. */
    static final int PIECE_BYTES = 1 << 18;

    /** The keys of a dimension, and how much of them has arrived. */
    private static final class Union {

        private final KeyFilterBuilder keys;
        private final Set<String> expected;

        /** Number of the next piece, by process. */
        private final Map<String, Integer> next = new HashMap<>();

        /** Completes when the keys that have arrived are merged. */
        private CompletableFuture<Void> merged = CompletableFuture.completedFuture(null);

        Union(int maxBytes, Collection<String> expected) {
            this.keys = new KeyFilterBuilder(maxBytes);
            this.expected = new HashSet<>(expected);
        }
    }

    private final String id = UUID.randomUUID().toString();
    private final FilterPlan plan;
    private final Executor worker;
    private final Executor guarded;
    private final int subtasks;

    /** Number of subtasks of the join in each process. */
    private final Map<String, Integer> subtasksIn = new HashMap<>();

    /** Tasks that send facts to a process. */
    private final Map<String, Set<ExecutionAttemptID>> sendersTo = new HashMap<>();

    /** Of which packers ask for filters. */
    private final Set<ExecutionAttemptID> senders = new HashSet<>();

    private boolean isPackerKnown;
    private final Set<ExecutionAttemptID> askers = new HashSet<>();
    private final Map<String, Offer> offers = new LinkedHashMap<>();

    /** Dimensions on offer, once all processes have offered theirs. */
    private long whole;

    private long parts;

    /** Dimensions that a task in another process needs. */
    private long needed;

    private final Map<Integer, Union> unions = new HashMap<>();
    private final Map<Integer, byte[]> filters = new HashMap<>();
    private long filterBytes;

    /**
     * @param all subtasks of the join
     * @param worker merges keys
     * @param guarded executes what follows, guarded by the exchange
     */
    FilterGeneration(FilterPlan plan, Collection<Announce> all, Executor worker, Executor guarded) {
        this.plan = plan;
        this.worker = worker;
        this.guarded = guarded;
        this.subtasks = all.size();
        Set<ExecutionAttemptID> ofFirst =
                all.stream()
                        .filter(announce -> announce.attempt().getSubtaskIndex() == 0)
                        .findFirst()
                        .orElseThrow()
                        .senders();
        for (Announce announce : all) {
            Set<ExecutionAttemptID> named =
                    announce.senders().isEmpty() ? ofFirst : announce.senders();
            subtasksIn.merge(announce.process(), 1, Integer::sum);
            sendersTo.computeIfAbsent(announce.process(), p -> new HashSet<>()).addAll(named);
            senders.addAll(named);
        }
    }

    String id() {
        return id;
    }

    /** The answer to a subtask in a process. */
    FilterResponse subtasks(String process) {
        return FilterResponse.ofSubtasks(id, subtasksIn.get(process), subtasks);
    }

    // ------------------------------------------------------------------ processes of the join

    void offer(Offer offer) {
        boolean isFirst = offers.putIfAbsent(offer.process(), offer) == null;
        if (isFirst && offers.size() == subtasksIn.size()) {
            decide();
        }
    }

    private boolean isDecided() {
        return offers.size() == subtasksIn.size();
    }

    /** Selects the dimensions that all processes offer alike, as far as there is room. */
    private void decide() {
        long bytes = 0;
        for (FilteringDimension dimension : plan.dimensions()) {
            int d = dimension.number();
            boolean isWhole = offers.values().stream().allMatch(o -> o.whole().containsKey(d));
            boolean isInParts = offers.values().stream().allMatch(o -> o.parts().containsKey(d));
            if (!isWhole && !isInParts) {
                continue;
            }
            long size =
                    isWhole
                            ? leader().whole().get(d)
                            : offers.values().stream().mapToLong(o -> o.parts().get(d)).sum();
            size = Math.min(size, plan.maxBytes());
            if (bytes + size > MAX_BYTES) {
                LOG.info(
                        "Dimension '{}' filters no facts in other processes: its keys need {} bytes, the JobManager holds {} bytes for a join.",
                        dimension.name(),
                        size,
                        MAX_BYTES);
                continue;
            }
            bytes += size;
            whole |= isWhole ? 1L << d : 0;
            parts |= isWhole ? 0 : 1L << d;
            unions.put(
                    d,
                    new Union(
                            plan.maxBytes(),
                            isWhole ? Set.of(leader().process()) : offers.keySet()));
        }
    }

    /** The process that sends the keys of whole dimensions. */
    private Offer leader() {
        return offers.values().iterator().next();
    }

    /**
     * Returns which dimensions a process sends next, none if no task will need more of them, or
     * null as long as one might.
     */
    @Nullable FilterResponse answer(Offer offer) {
        if (!isDecided()) {
            return null;
        }
        long wanted = 0;
        boolean mayBeWanted = false;
        for (Map.Entry<Integer, Union> union : unions.entrySet()) {
            if (union.getValue().expected.contains(offer.process())) {
                wanted |= needed & 1L << union.getKey();
                mayBeWanted = true;
            }
        }
        boolean isLate = !askers.containsAll(senders);
        return wanted == 0 && mayBeWanted && isLate
                ? null
                : FilterResponse.ofDimensions(id, wanted);
    }

    /** Adds keys, and answers when they are merged. A piece that has arrived already is ignored. */
    CompletableFuture<FilterResponse> put(Put put) {
        FilterResponse received = FilterResponse.ofDimensions(id, 0);
        Union union = unions.get(put.dimension());
        if (union == null || !union.expected.contains(put.process())) {
            return CompletableFuture.completedFuture(received);
        }
        if (put.piece() == null) {
            LOG.info(
                    "Dimension {} filters no facts in other processes: process {} cannot send its keys.",
                    put.dimension(),
                    put.process());
            unions.remove(put.dimension());
            return CompletableFuture.completedFuture(received);
        }
        if (put.index() == union.next.getOrDefault(put.process(), 0)) {
            union.next.put(put.process(), put.index() + 1);
            union.merged = union.merged.thenRunAsync(() -> union.keys.add(put.piece()), worker);
            if (put.isLast()) {
                union.expected.remove(put.process());
            }
            if (union.expected.isEmpty()) {
                union.merged
                        .thenApplyAsync(done -> union.keys.build().map(Built::of), worker)
                        .whenCompleteAsync(
                                (filter, failure) -> built(put.dimension(), filter, failure),
                                guarded);
            } else {
                // No process would send the rest, and tasks would wait for it.
                union.merged.exceptionally(
                        failure -> {
                            guarded.execute(() -> built(put.dimension(), null, failure));
                            return null;
                        });
            }
        }
        return union.merged.handle((done, failure) -> received);
    }

    /** A filter and its serialized form, which is made outside of the exchange's lock. */
    private record Built(KeyFilter filter, byte[] bytes) {

        static Built of(KeyFilter filter) {
            try {
                return new Built(filter, InstantiationUtil.serializeObject(filter));
            } catch (IOException e) {
                throw new UncheckedIOException("Cannot serialize a filter: " + filter, e);
            }
        }
    }

    private void built(
            int dimension, @Nullable Optional<Built> built, @Nullable Throwable failure) {
        Optional<Built> filter = failure == null ? built : Optional.empty();
        long lengthBytes = filter.map(each -> each.filter().lengthBytes()).orElse(0L);
        boolean isUsed = filter.isPresent() && filterBytes + lengthBytes <= MAX_BYTES;
        LOG.info(
                "Filter of facts for other processes: dimension={}, filter={}, bytes of other dimensions={}, is used={}.",
                dimension,
                filter.map(Built::filter).orElse(null),
                filterBytes,
                isUsed,
                failure);
        if (isUsed && unions.containsKey(dimension)) {
            filterBytes += lengthBytes;
            filters.put(dimension, filter.get().bytes());
        }
        unions.remove(dimension);
    }

    // ------------------------------------------------------------------ tasks that send facts

    /**
     * Returns which filters a task fetches, or null as long as keys are missing. A task needs the
     * filters that subtasks of the join in its own process do not publish.
     */
    @Nullable FilterResponse answer(Ask ask) {
        awaitPackers(ask.attempt().getJobVertexId());
        if (!senders.contains(ask.attempt())) {
            return FilterResponse.OVER;
        }
        askers.add(ask.attempt());
        if (!isDecided()) {
            return null;
        }
        long needs = 0;
        if (!sendersTo.getOrDefault(ask.process(), Set.of()).contains(ask.attempt())) {
            needs |= whole;
        }
        if (subtasksIn.getOrDefault(ask.process(), 0) < subtasks) {
            needs |= parts;
        }
        needed |= needs;
        long has = 0;
        for (int dimension : dimensions(needs)) {
            if (unions.containsKey(dimension)) {
                return null;
            }
            has |= filters.containsKey(dimension) ? 1L << dimension : 0;
        }
        return FilterResponse.ofDimensions(id, has);
    }

    /**
     * Awaits no requests of tasks other than packers, which are those of one vertex. Where Flink
     * does not chain {@code send} to the packer, it is a task of its own and needs no filters.
     */
    private void awaitPackers(JobVertexID packer) {
        if (!isPackerKnown) {
            isPackerKnown = true;
            senders.removeIf(sender -> !sender.getJobVertexId().equals(packer));
        }
    }

    /** Returns a piece of a filter, which is empty at its end. */
    FilterResponse fetch(Fetch fetch) {
        byte[] filter = filters.get(fetch.dimension());
        if (filter == null) {
            return FilterResponse.OVER;
        }
        int end = (int) Math.min(filter.length, (long) fetch.offset() + PIECE_BYTES);
        return FilterResponse.ofBytes(
                id, Arrays.copyOfRange(filter, Math.min(fetch.offset(), end), end));
    }
}
