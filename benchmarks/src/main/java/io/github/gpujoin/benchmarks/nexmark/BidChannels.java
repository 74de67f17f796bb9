// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.nexmark;

import java.util.Random;
import java.util.stream.IntStream;

/**
 * The channels of bids and their URLs, which the public suite for Flink added to Beam's events.
 * Half of the bids arrive through one of 4 channels, the others through one of 10,000. The URLs of
 * nine in ten of the 10,000 contain the channel's number.
 */
final class BidChannels {

    /** A channel of bids. */
    record Channel(String name, String url) {}

    private static final String[] HOT_NAMES = {"Google", "Facebook", "Baidu", "Apple"};
    private static final int COLD_CHANNELS = 10_000;
    private static final int PATH_PARTS = 3;
    private static final int PART_LENGTH = 5;
    private static final long SEED = 23;

    private static final Channel[] HOT = new Channel[HOT_NAMES.length];
    private static final Channel[] COLD = new Channel[COLD_CHANNELS];

    static {
        Random random = new Random(SEED);
        for (int i = 0; i < HOT.length; i++) {
            HOT[i] = new Channel(HOT_NAMES[i], url(random));
        }
        for (int i = 0; i < COLD.length; i++) {
            String url = url(random);
            boolean hasNumber = random.nextInt(10) > 0;
            COLD[i] =
                    new Channel(
                            "channel-" + i, hasNumber ? url + "&channel_id=" + reversed(i) : url);
        }
    }

    private BidChannels() {}

    /** Returns the channel of the bid with this event number. */
    static Channel of(long eventNumber) {
        Random random = new Random(eventNumber ^ SEED);
        return random.nextInt(2) > 0
                ? HOT[random.nextInt(HOT.length)]
                : COLD[random.nextInt(COLD.length)];
    }

    private static String url(Random random) {
        StringBuilder url = new StringBuilder("https://www.nexmark.com/");
        for (int part = 0; part < PATH_PARTS; part++) {
            IntStream.range(0, PART_LENGTH)
                    .forEach(i -> url.append((char) ('a' + random.nextInt(26))));
            url.append('/');
        }
        return url.append("item.htm?query=1").toString();
    }

    /** Numbers of many digits, as those of channels are. */
    private static int reversed(int number) {
        return Math.abs(Integer.reverse(number));
    }
}
