// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.filter;

import io.github.gpujoin.flink.exchange.SubtaskAttempts;
import io.github.gpujoin.flink.filter.FilterRequest.Announce;
import io.github.gpujoin.flink.filter.FilterRequest.Ask;
import io.github.gpujoin.flink.filter.FilterRequest.Confirm;
import io.github.gpujoin.flink.filter.FilterRequest.Fetch;
import io.github.gpujoin.flink.filter.FilterRequest.Offer;
import io.github.gpujoin.flink.filter.FilterRequest.Put;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Predicate;
import org.apache.flink.runtime.executiongraph.ExecutionAttemptID;
import org.apache.flink.util.clock.Clock;
import org.apache.flink.util.clock.SystemClock;
import org.jspecify.annotations.Nullable;

/**
 * Exchanges the filters of one join between processes, in the JobMaster. The subtasks of the join
 * announce themselves; all of them together are a {@link FilterGeneration}, which collects their
 * keys for the tasks that send facts.
 *
 * <p><b>Why no task sees filters of another attempt of the join.</b> Two attempts may have read
 * different dimensions, so that a filter of one would drop facts that have results in the other.
 *
 * <ol>
 *   <li>Only an attempt of a subtask that Flink has reported as started can announce itself. Flink
 *       reports that it failed or is reset before it deploys the next one. That ends the generation
 *       and all announcements, and a late message of the old attempt is refused.
 *   <li>Each message about keys names its generation, so that keys of two generations never mix,
 *       and a download that began in an earlier one ends.
 *   <li>A task receives filters only if a subtask of the generation has announced that it reads
 *       from this very attempt of the task. All edges from facts to the join are pipelined, since
 *       the join refuses batch mode. So the facts of an attempt reach no other attempts of the join
 *       than those of this generation: if one of these fails, Flink restarts the task as well.
 *       (With approximate local recovery it would not, so that dimensions filter no facts then.)
 * </ol>
 *
 * <p>If only a task that sends facts restarts, its new attempt is not named by the generation, and
 * has no filter.
 *
 * <p>A request that has to wait is answered with {@link FilterResponse#AGAIN} after {@value
 * #WAIT_MS} ms, before Flink's RPC times out (10 s by default). So a task can tell a coordinator
 * that waits for dimensions from one that it cannot reach. Requests that wait are dropped when a
 * generation ends, and askers that are still alive repeat them. So a process that stops repeating
 * its offer is gone, and its keys are no longer awaited.
 *
 * <p>Used by the JobMaster's main thread, and guarded by itself, since keys are merged in another.
 */
final class FilterExchange extends SubtaskAttempts {

    private static final long WAIT_MS = 5_000;

    private final FilterPlan plan;
    private final Executor worker;
    private final long waitMs;
    private final Clock clock;

    private final Map<Integer, Announce> announced = new HashMap<>();

    private final Map<Integer, CompletableFuture<FilterResponse>> announcers = new HashMap<>();

    /** Offers that wait until a task needs the keys, by process. */
    private final Map<String, Waiting<Offer>> offers = new HashMap<>();

    private final Map<ExecutionAttemptID, Waiting<Ask>> asks = new HashMap<>();

    private @Nullable FilterGeneration generation;

    private record Waiting<R>(R request, CompletableFuture<FilterResponse> answer) {}

    /**
     * @param worker merges keys
     */
    FilterExchange(FilterPlan plan, Executor worker) {
        this(plan, worker, WAIT_MS, SystemClock.getInstance());
    }

    /**
     * @param waitMs time after which a request that has to wait is answered so
     * @param clock of timeouts
     */
    FilterExchange(FilterPlan plan, Executor worker, long waitMs, Clock clock) {
        this.plan = plan;
        this.worker = worker;
        this.waitMs = waitMs;
        this.clock = clock;
    }

    @Override
    protected void forget(int subtask) {
        announced.remove(subtask);
        announcers.remove(subtask);
        endGeneration();
    }

    @Override
    protected void forgetAll() {
        announced.clear();
        announcers.clear();
        endGeneration();
    }

    private void endGeneration() {
        if (generation != null) {
            generation = null;
            announced.clear();
            announcers.clear();
            offers.clear();
            asks.clear();
        }
    }

    /**
     * Handles a request.
     *
     * @param parallelism of the join
     */
    CompletableFuture<FilterResponse> handle(FilterRequest request, int parallelism) {
        return accept(request, parallelism)
                .completeOnTimeout(FilterResponse.AGAIN, waitMs, TimeUnit.MILLISECONDS);
    }

    private synchronized CompletableFuture<FilterResponse> accept(
            FilterRequest request, int parallelism) {
        if (request instanceof Announce announce) {
            return announce(announce, parallelism);
        } else if (request instanceof Confirm confirm) {
            return completed(confirm(confirm));
        } else if (request instanceof Offer offer) {
            return offer(offer);
        } else if (request instanceof Put put) {
            return put(put);
        } else if (request instanceof Ask ask) {
            return ask(ask);
        }
        return completed(fetch((Fetch) request));
    }

    private static CompletableFuture<FilterResponse> completed(FilterResponse response) {
        return CompletableFuture.completedFuture(response);
    }

    private CompletableFuture<FilterResponse> announce(Announce announce, int parallelism) {
        int subtask = announce.attempt().getSubtaskIndex();
        if (!isCurrent(announce.attempt())) {
            // The message may precede Flink's report. Otherwise it is of an earlier attempt.
            boolean mayStart = !hasStarted(subtask) && subtask < parallelism;
            return completed(mayStart ? FilterResponse.AGAIN : FilterResponse.OVER);
        }
        CompletableFuture<FilterResponse> answer = new CompletableFuture<>();
        announced.put(subtask, announce);
        announcers.put(subtask, answer);
        if (generation == null && announced.size() == parallelism) {
            generation =
                    new FilterGeneration(plan, announced.values(), worker, this::execute, clock);
        }
        if (generation != null) {
            answerAnnouncers(generation);
            answerWaiting();
        }
        return answer;
    }

    private void answerAnnouncers(FilterGeneration of) {
        Map<Integer, CompletableFuture<FilterResponse>> answered = Map.copyOf(announcers);
        announcers.clear();
        answered.forEach(
                (subtask, answer) ->
                        answer.complete(of.subtasks(announced.get(subtask).process())));
    }

    private boolean isCurrent(String ofRequest) {
        return generation != null && generation.id().equals(ofRequest);
    }

    private FilterResponse confirm(Confirm confirm) {
        if (!isCurrent(confirm.generation())) {
            return FilterResponse.OVER;
        }
        generation.confirm(confirm.process());
        return FilterResponse.ofDimensions(generation.id(), 0);
    }

    private CompletableFuture<FilterResponse> offer(Offer offer) {
        if (!isCurrent(offer.generation())) {
            return completed(FilterResponse.OVER);
        }
        generation.offer(offer);
        Waiting<Offer> waiting = new Waiting<>(offer, new CompletableFuture<>());
        offers.put(offer.process(), waiting);
        answerWaiting();
        return waiting.answer();
    }

    private CompletableFuture<FilterResponse> ask(Ask ask) {
        Waiting<Ask> waiting = new Waiting<>(ask, new CompletableFuture<>());
        asks.put(ask.attempt(), waiting);
        answerWaiting();
        return waiting.answer();
    }

    private CompletableFuture<FilterResponse> put(Put put) {
        if (!isCurrent(put.generation())) {
            return completed(FilterResponse.OVER);
        }
        CompletableFuture<FilterResponse> received = generation.put(put);
        if (put.piece() == null) {
            answerWaiting();
        }
        return received;
    }

    /** Continues after keys were merged. */
    private synchronized void execute(Runnable step) {
        step.run();
        answerWaiting();
    }

    private FilterResponse fetch(Fetch fetch) {
        return isCurrent(fetch.generation()) ? generation.fetch(fetch) : FilterResponse.OVER;
    }

    /** Answers what can be answered now: tasks first, since they need keys that are on offer. */
    private void answerWaiting() {
        if (generation != null) {
            FilterGeneration current = generation;
            answer(asks, waiting -> current.answer(waiting.request()));
            answer(offers, waiting -> current.answer(waiting.request()));
        }
    }

    private static <K, W extends Waiting<?>> void answer(
            Map<K, W> waiting, Function<W, @Nullable FilterResponse> answers) {
        List<Runnable> completions = new ArrayList<>();
        Predicate<W> isAnswered =
                each -> {
                    FilterResponse response = answers.apply(each);
                    if (response != null) {
                        completions.add(() -> each.answer().complete(response));
                    }
                    return response != null;
                };
        waiting.values().removeIf(isAnswered);
        completions.forEach(Runnable::run);
    }
}
