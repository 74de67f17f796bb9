// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.filter;

import static io.github.gpujoin.flink.filter.FilterRequest.dimensions;

import io.github.gpujoin.flink.filter.FilterRequest.Announce;
import io.github.gpujoin.flink.filter.FilterRequest.Ask;
import io.github.gpujoin.flink.filter.FilterRequest.Fetch;
import io.github.gpujoin.flink.filter.FilterRequest.Offer;
import io.github.gpujoin.flink.filter.FilterRequest.Put;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.apache.flink.runtime.executiongraph.ExecutionAttemptID;
import org.apache.flink.runtime.jobgraph.JobVertexID;
import org.apache.flink.util.clock.Clock;
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
 * <p>Flink may release a TaskManager once its subtasks have finished, and nothing fails. So keys
 * are awaited only from processes that are not silent for {@value #SILENCE_MS} ms: each confirms
 * every few seconds, however long it loads; from its offer on, it repeats that or sends pieces,
 * until it has sent all keys.
 *
 * <p>Keys are merged in another thread, since a Bloom filter of some millions of keys takes a
 * second. All else is guarded by the {@link FilterExchange}.
 */
final class FilterGeneration {

    private static final Logger LOG = LoggerFactory.getLogger(FilterGeneration.class);

    static final long MAX_BYTES = 16 << 20;

    /** Each process sends one piece at a time, so that few bytes wait in Flink's RPC. */
    static final int PIECE_BYTES = 1 << 18;

    /** Several repetitions of a request, and time-outs of Flink's RPC (10 s) between them. */
    static final long SILENCE_MS = 60_000;

    private final String id = UUID.randomUUID().toString();
    private final FilterPlan plan;
    private final Executor worker;
    private final Executor guarded;
    private final Clock clock;
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

    /** Time of the last message of each process of the join. */
    private final Map<String, Long> heardMs = new HashMap<>();

    /** Dimensions on offer, once all processes have offered theirs. */
    private long whole;

    private long parts;

    /** Dimensions that a task in another process needs. */
    private long needed;

    private final Map<Integer, KeyUnion> unions = new HashMap<>();
    private final Map<Integer, byte[]> filters = new HashMap<>();
    private long filterBytes;

    /**
     * @param all subtasks of the join
     * @param worker merges keys
     * @param guarded executes what follows, guarded by the exchange
     */
    FilterGeneration(
            FilterPlan plan,
            Collection<Announce> all,
            Executor worker,
            Executor guarded,
            Clock clock) {
        this.plan = plan;
        this.worker = worker;
        this.guarded = guarded;
        this.clock = clock;
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
            heard(announce.process());
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

    void confirm(String process) {
        heard(process);
    }

    void offer(Offer offer) {
        heard(offer.process());
        add(offer);
    }

    private void add(Offer offer) {
        boolean isFirst = offers.putIfAbsent(offer.process(), offer) == null;
        if (isFirst && isDecided()) {
            decide();
        }
    }

    /** Adds offers without keys of the processes that are silent. */
    private void addSilent() {
        for (String process : subtasksIn.keySet()) {
            if (!offers.containsKey(process) && isSilent(process)) {
                LOG.info(
                        "Dimensions filter no facts in other processes: process {} has not offered keys or confirmed that it will for {} s. Flink may have released it after its last task.",
                        process,
                        SILENCE_MS / 1_000);
                add(new Offer(id, process, Map.of(), Map.of()));
            }
        }
    }

    private void heard(String process) {
        heardMs.put(process, clock.relativeTimeMillis());
    }

    private boolean isSilent(String process) {
        return clock.relativeTimeMillis() - heardMs.get(process) >= SILENCE_MS;
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
                    new KeyUnion(
                            plan.maxBytes(),
                            isWhole ? Set.of(leader().process()) : offers.keySet(),
                            worker));
        }
    }

    /** The process that sends the keys of whole dimensions. */
    private Offer leader() {
        return offers.values().stream()
                .filter(offer -> !isSilent(offer.process()))
                .findFirst()
                .orElseGet(() -> offers.values().iterator().next());
    }

    /** Drops the union of a dimension if a process that has not sent all of its keys is silent. */
    private void dropIfSilent(int dimension) {
        KeyUnion union = unions.get(dimension);
        List<String> silent =
                union == null
                        ? List.of()
                        : union.missing().stream().filter(this::isSilent).sorted().toList();
        if (!silent.isEmpty()) {
            LOG.info(
                    "Dimension {} filters no facts in other processes: processes {} have not sent its keys for {} s. Flink may have released them after their last task.",
                    dimension,
                    silent,
                    SILENCE_MS / 1_000);
            unions.remove(dimension);
        }
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
        for (Map.Entry<Integer, KeyUnion> union : unions.entrySet()) {
            if (union.getValue().missing().contains(offer.process())) {
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
        heard(put.process());
        FilterResponse received = FilterResponse.ofDimensions(id, 0);
        KeyUnion union = unions.get(put.dimension());
        if (union == null || !union.missing().contains(put.process())) {
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
        if (union.add(put)) {
            if (union.missing().isEmpty()) {
                union.build()
                        .whenCompleteAsync(
                                (filter, failure) -> built(put.dimension(), filter, failure),
                                guarded);
            } else {
                // No process would send the rest, and tasks would wait for it.
                union.merged()
                        .exceptionally(
                                failure -> {
                                    guarded.execute(() -> built(put.dimension(), null, failure));
                                    return null;
                                });
            }
        }
        return union.merged().handle((done, failure) -> received);
    }

    private void built(
            int dimension, @Nullable Optional<KeyUnion.Built> built, @Nullable Throwable failure) {
        Optional<KeyUnion.Built> filter = failure == null ? built : Optional.empty();
        long lengthBytes = filter.map(each -> each.filter().lengthBytes()).orElse(0L);
        boolean isUsed = filter.isPresent() && filterBytes + lengthBytes <= MAX_BYTES;
        LOG.info(
                "Filter of facts for other processes: dimension={}, filter={}, bytes of other dimensions={}, is used={}.",
                dimension,
                filter.map(KeyUnion.Built::filter).orElse(null),
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
     * filters that subtasks of the join in its own process do not publish. It repeats its request
     * while it waits, which finds out in time that a process has become silent.
     */
    @Nullable FilterResponse answer(Ask ask) {
        awaitPackers(ask.attempt().getJobVertexId());
        if (!senders.contains(ask.attempt())) {
            return FilterResponse.OVER;
        }
        askers.add(ask.attempt());
        if (!isDecided()) {
            addSilent();
        }
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
            dropIfSilent(dimension);
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
