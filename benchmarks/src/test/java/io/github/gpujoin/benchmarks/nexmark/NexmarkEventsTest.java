// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.nexmark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.gpujoin.benchmarks.sql.EventLog;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.apache.beam.sdk.nexmark.model.Event;
import org.apache.beam.sdk.nexmark.sources.generator.Generator;
import org.junit.jupiter.api.Test;

class NexmarkEventsTest {

    private static final int EVENTS = 5000;

    private static Map<String, Long> kinds(Generator generator) {
        Map<String, Long> kinds = new TreeMap<>();
        while (generator.hasNext()) {
            Event event = generator.next().getValue();
            kinds.merge(
                    event.newPerson != null ? "person" : event.bid != null ? "bid" : "auction",
                    1L,
                    Long::sum);
        }
        return kinds;
    }

    @Test
    void shouldGenerateOnePersonAndThreeAuctionsIn50Events() {
        assertThat(kinds(NexmarkEvents.generator(EVENTS)))
                .isEqualTo(Map.of("person", 100L, "auction", 300L, "bid", 4600L));
    }

    @Test
    void shouldGenerate10000EventsASecondInOrder() {
        Generator generator = NexmarkEvents.generator(EVENTS);
        long first = generator.next().getTimestamp().getMillis();
        long last = first;
        while (generator.hasNext()) {
            long next = generator.next().getTimestamp().getMillis();
            assertThat(next).isGreaterThanOrEqualTo(last);
            last = next;
        }
        assertThat(last - first).isEqualTo(EVENTS / 10 - 1);
    }

    @Test
    void shouldDivideEventsAmongSubtasks() {
        assertThat(NexmarkEvents.logs(EVENTS, 3))
                .extracting(EventLog::rowCount)
                .containsExactly(1667L, 1667L, 1666L);
    }

    @Test
    void shouldSendHalfOfTheBidsThroughFourChannels() {
        Map<String, Long> bids =
                LongStream.range(0, 100_000)
                        .mapToObj(BidChannels::of)
                        .collect(
                                Collectors.groupingBy(
                                        BidChannels.Channel::name, Collectors.counting()));
        List<String> hot = List.of("Apple", "Baidu", "Facebook", "Google");
        assertThat(hot)
                .allSatisfy(name -> assertThat(bids.get(name)).isCloseTo(12_500, within(500L)));
        bids.keySet().removeAll(hot);
        assertThat(bids).hasSizeBetween(9_900, 10_000);
        assertThat(bids.values()).allMatch(count -> count < 30);
    }

    @Test
    void shouldGiveAChannelOneUrl() {
        Map<String, Long> urls =
                LongStream.range(0, 20_000)
                        .mapToObj(BidChannels::of)
                        .distinct()
                        .collect(
                                Collectors.groupingBy(
                                        BidChannels.Channel::name, Collectors.counting()));
        assertThat(urls.values()).containsOnly(1L);
        assertThat(BidChannels.of(4).url())
                .matches("https://www\\.nexmark\\.com/([a-z]{5}/){3}item\\.htm\\?query=1.*");
    }

    @Test
    void shouldGenerateTheSameEventsAgain() {
        Function<Generator, List<Integer>> hashes =
                generator ->
                        LongStream.range(0, EVENTS)
                                .mapToObj(i -> generator.next().getValue().hashCode())
                                .toList();
        assertThat(hashes.apply(NexmarkEvents.generator(EVENTS)))
                .isEqualTo(hashes.apply(NexmarkEvents.generator(EVENTS)));
    }
}
