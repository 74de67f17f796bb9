// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.stream.DoubleStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Joins that share the bus of a simulated device. */
@ParameterizedClass(name = "steps are released and posted in one poll: {0}")
@ValueSource(booleans = {true, false})
class BusSharesTest {

    private static final long TICK_NS = 1_000;
    private static final double BUS_BYTES_PER_TICK = 51_400;
    private static final int BLOCKS = 132;
    private static final int READS = 24;

    /** Time of a step besides its read, for look-ups and results. */
    private static final long STEP_TICKS = 20;

    private static final int TICKS = 200_000;

    @Parameter private boolean isOnePoll;

    private long nowNs;
    private final Device device = new Device();
    private final BusShares shares = new BusShares(() -> nowNs, device::reportCompleted);

    /** A step of an engine. */
    private static final class Step {
        private final Engine engine;
        private double leftBytes;
        private long leftTicks = STEP_TICKS;
        private boolean isDone;
        private boolean isReported;

        Step(Engine engine) {
            this.engine = engine;
            this.leftBytes = engine.stepBytes;
        }

        void report() {
            if (!isReported) {
                isReported = true;
                engine.share.completed(engine.stepBytes);
            }
        }
    }

    /** Rows of facts whose results take several steps. */
    private static final class Segment {
        private Step step;
        private int leftSteps;

        Segment(int steps) {
            this.leftSteps = steps;
        }

        boolean isReady() {
            return step != null && step.isDone;
        }
    }

    /**
     * A kernel: each block takes a step, in the order of posting; a number of them read at once and
     * have equal parts of the bus.
     */
    private static final class Device {
        private final ArrayDeque<Step> posted = new ArrayDeque<>();
        private final List<Step> running = new ArrayList<>();
        private final List<Step> done = new ArrayList<>();
        private double readBytes;

        void reportCompleted() {
            done.forEach(Step::report);
            done.clear();
        }

        void tick() {
            while (running.size() < BLOCKS && !posted.isEmpty()) {
                running.add(posted.remove());
            }
            double bytes = BUS_BYTES_PER_TICK;
            List<Step> readers =
                    running.stream().filter(step -> step.leftBytes > 0).limit(READS).toList();
            for (int i = 0; i < readers.size(); i++) {
                Step step = readers.get(i);
                double part = Math.min(step.leftBytes, bytes / (readers.size() - i));
                step.leftBytes -= part;
                bytes -= part;
                readBytes += part;
                step.engine.join.readBytes += part;
            }
            for (Step step : running) {
                if (step.leftBytes <= 0 && step.leftTicks-- == 0) {
                    step.isDone = true;
                    done.add(step);
                }
            }
            running.removeIf(step -> step.isDone);
        }
    }

    /** A join of several engines. */
    private final class Join {
        private final UUID name = UUID.randomUUID();
        private final List<Engine> engines = new ArrayList<>();
        private final JoinShare share;
        private double readBytes;

        Join(double weight) {
            this.share = new JoinShare(name, weight);
        }

        Join with(int engineCount, int slots, long stepBytes) {
            for (int i = 0; i < engineCount; i++) {
                engines.add(new Engine(this, slots, stepBytes));
            }
            return this;
        }

        /** Limits the facts that arrive; without a limit there are always some. */
        Join receiving(double bytesPerTick) {
            engines.forEach(engine -> engine.arrivingBytes = bytesPerTick / engines.size());
            return this;
        }
    }

    /**
     * An engine. Its thread polls now and then, and reads the results that are ready, in the order
     * of the segments.
     */
    private final class Engine {
        private final Join join;
        private final BusShares.Share share;
        private final int slots;
        private final long stepBytes;
        private final ArrayDeque<Segment> inFlight = new ArrayDeque<>();
        private double arrivingBytes = Double.POSITIVE_INFINITY;
        private double waitingBytes;
        private int stepsOfSegment = 1;
        private long readSteps;
        private long refusedCount;
        private boolean releases;

        /** If not 0, reads the results of one step in so many ticks. */
        private int readTicks;

        Engine(Join join, int slots, long stepBytes) {
            this.join = join;
            this.share = shares.open(join.share);
            this.slots = slots;
            this.stepBytes = stepBytes;
        }

        void poll() {
            releases = isOnePoll || !releases;
            if (releases) {
                release();
            }
            if (isOnePoll || !releases) {
                post();
            }
        }

        private void release() {
            while (!inFlight.isEmpty() && inFlight.peek().isReady()) {
                Segment head = inFlight.peek();
                head.step.report();
                head.step = null;
                readSteps++;
                if (--head.leftSteps == 0) {
                    inFlight.remove();
                }
                if (readTicks > 0) {
                    break;
                }
            }
        }

        private void post() {
            for (Segment segment : inFlight) {
                if (segment.step == null && !post(segment)) {
                    return;
                }
            }
            while (inFlight.size() < slots && waitingBytes >= stepBytes) {
                Segment segment = new Segment(stepsOfSegment);
                if (!post(segment)) {
                    return;
                }
                inFlight.add(segment);
                waitingBytes -= stepBytes;
            }
        }

        private boolean post(Segment segment) {
            if (!share.mayPost(bottleneck(inFlight.size()))) {
                refusedCount++;
                return false;
            }
            segment.step = new Step(this);
            device.posted.add(segment.step);
            share.posted(stepBytes, bottleneck(inFlight.size() + 1));
            return true;
        }

        private BusShares.Bottleneck bottleneck(int used) {
            if (!inFlight.isEmpty() && inFlight.peek().isReady()) {
                return BusShares.Bottleneck.READER;
            }
            return used >= slots ? BusShares.Bottleneck.DEVICE : BusShares.Bottleneck.FACTS;
        }
    }

    /** Runs joins; each engine polls about every 10 ticks. */
    private void run(Random random, int ticks, List<Join> joins) {
        for (int tick = 0; tick < ticks; tick++) {
            for (Join join : joins) {
                for (Engine engine : join.engines) {
                    engine.waitingBytes += engine.arrivingBytes;
                    if (random.nextInt(Math.max(10, engine.readTicks)) == 0) {
                        engine.poll();
                    }
                }
            }
            device.tick();
            nowNs += TICK_NS;
        }
    }

    private double usedBus(int ticks) {
        return device.readBytes / ticks / BUS_BYTES_PER_TICK;
    }

    @ParameterizedTest(name = "seed={0}")
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void shouldDivideTheBusByWeightsWhateverTheSizesOfStepsAndJoins(long seed) {
        Random random = new Random(seed);
        double[] weights = {1, 1, 2, 4};
        List<Join> joins = new ArrayList<>();
        for (double weight : weights) {
            long stepBytes = 16L << 10 << random.nextInt(6);
            int engines = 1 + random.nextInt(4);
            long slots = Math.max(64, (32L << 20) / stepBytes / engines);
            joins.add(new Join(weight).with(engines, (int) slots, stepBytes));
        }

        run(random, TICKS, joins);

        double sum = DoubleStream.of(weights).sum();
        for (int i = 0; i < weights.length; i++) {
            double share = joins.get(i).readBytes / device.readBytes;
            assertThat(share / (weights[i] / sum)).as("join %d", i).isCloseTo(1, within(0.1));
        }
        assertThat(usedBus(TICKS)).isGreaterThan(0.97);
    }

    /** Without shares, the first join would read sixteen times the bytes of the other one. */
    @ParameterizedTest(name = "seed={0}")
    @ValueSource(longs = {6, 7, 8})
    void shouldGiveAJoinOfOneEngineAsMuchAsOneOfMany(long seed) {
        Join large = new Join(1).with(16, 16, 128 << 10);
        Join small = new Join(1).with(1, 128, 128 << 10);

        run(new Random(seed), TICKS, List.of(large, small));

        assertThat(small.readBytes / large.readBytes).isCloseTo(1, within(0.1));
        assertThat(usedBus(TICKS)).isGreaterThan(0.95);
    }

    /** Two short steps for each read of the kernel are far more bytes if the steps are large. */
    @ParameterizedTest(name = "steps of {0} KiB, weight {1}")
    @CsvSource({"512, 1", "1024, 1", "1024, 4", "2048, 1", "2048, 4"})
    void shouldDivideTheBusBetweenLargeAndSmallSteps(long stepKiB, double weight) {
        Join large = new Join(1).with(4, 64, stepKiB << 10);
        Join small = new Join(weight).with(4, 64, 64 << 10);

        run(new Random(22), TICKS, List.of(large, small));

        double share = small.readBytes / device.readBytes;
        assertThat(share / (weight / (1 + weight))).isCloseTo(1, within(0.1));
        assertThat(usedBus(TICKS)).isGreaterThan(0.97);
    }

    /** A join with too few slots for its share always wants to post, and is always behind. */
    @ParameterizedTest(name = "{0} slots, weight {1}")
    @CsvSource({"16, 1", "32, 1", "32, 4", "64, 4"})
    void shouldNotLetAJoinPayForWhatAnotherCouldNotUse(int slots, double weight) {
        Random random = new Random(23);
        Join few = new Join(weight).with(1, slots, 64 << 10);
        Join other = new Join(1).with(4, 64, 64 << 10);
        run(random, 2 * TICKS, List.of(few, other));
        double before = other.readBytes;
        Join starting = new Join(1).with(4, 64, 64 << 10);

        run(random, TICKS / 4, List.of(few, other, starting));

        assertThat(starting.readBytes / (other.readBytes - before)).isCloseTo(1, within(0.1));
    }

    /** A join that receives little must neither hold others back nor wait for them. */
    @ParameterizedTest(name = "seed={0}")
    @ValueSource(longs = {9, 10, 11})
    void shouldUseTheWholeBusBesideAJoinWithFewFacts(long seed) {
        Join busy = new Join(1).with(4, 64, 128 << 10);
        Join idle = new Join(4).with(4, 64, 128 << 10).receiving(0.1 * BUS_BYTES_PER_TICK);

        run(new Random(seed), TICKS, List.of(busy, idle));

        assertThat(idle.readBytes / TICKS / BUS_BYTES_PER_TICK).isCloseTo(0.1, within(0.005));
        assertThat(usedBus(TICKS)).isGreaterThan(0.97);
    }

    @Test
    void shouldNotLimitALoneJoin() {
        Join lone = new Join(0.01).with(4, 256, 128 << 10);
        Join without = new Join(100).with(1, 256, 128 << 10).receiving(0);

        run(new Random(12), TICKS / 10, List.of(lone, without));

        assertThat(lone.engines).allMatch(engine -> engine.refusedCount == 0);
        assertThat(usedBus(TICKS / 10)).isGreaterThan(0.97);
    }

    /** It has its share at once, and no claim on what it did not ask for. */
    @ParameterizedTest(name = "seed={0}")
    @ValueSource(longs = {13, 14})
    void shouldDivideTheBusFromTheStartOfAnotherJoin(long seed) {
        Random random = new Random(seed);
        Join first = new Join(1).with(4, 64, 128 << 10);
        run(random, TICKS, List.of(first));
        double before = first.readBytes;
        Join second = new Join(1).with(4, 64, 128 << 10);

        run(random, TICKS / 4, List.of(first, second));

        assertThat(second.readBytes / (first.readBytes - before)).isCloseTo(1, within(0.1));
    }

    /**
     * The other one has more in flight than is allowed with two, so that its return begins with a
     * wait.
     */
    @ParameterizedTest(name = "seed={0}")
    @ValueSource(longs = {20, 21})
    void shouldDivideTheBusFromTheReturnOfAnIdleJoin(long seed) {
        Random random = new Random(seed);
        Join first = new Join(1).with(4, 64, 128 << 10);
        Join idle = new Join(1).with(4, 64, 128 << 10).receiving(0);
        run(random, TICKS, List.of(first, idle));
        double before = first.readBytes;
        idle.receiving(Double.POSITIVE_INFINITY);

        run(random, TICKS / 4, List.of(first, idle));

        assertThat(idle.readBytes / (first.readBytes - before)).isCloseTo(1, within(0.1));
    }

    /** For example one whose results nobody reads, or that waits until its groups are drained. */
    @ParameterizedTest(name = "seed={0}")
    @ValueSource(longs = {15, 16})
    void shouldNotWaitForAJoinThatNoLongerPolls(long seed) {
        Random random = new Random(seed);
        Join stopping = new Join(8).with(4, 64, 128 << 10);
        Join other = new Join(1).with(4, 64, 128 << 10);
        run(random, TICKS / 4, List.of(stopping, other));
        double before = device.readBytes;

        run(random, TICKS / 4, List.of(other));

        double used = (device.readBytes - before) / (TICKS / 4) / BUS_BYTES_PER_TICK;
        assertThat(used).isGreaterThan(0.95);
    }

    /** The results of its steps, more than may be in flight, are ready but unread. */
    @ParameterizedTest(name = "a step in {0} us")
    @ValueSource(ints = {100, 900, 5_000, 50_000})
    void shouldNotWaitForAJoinWhoseResultsAreReadSlowly(int readTicks) {
        Join slow = new Join(2).with(16, 32, 128 << 10);
        slow.engines.forEach(engine -> engine.readTicks = readTicks);
        Join first = new Join(1).with(2, 64, 128 << 10);
        Join second = new Join(1).with(4, 64, 64 << 10);

        run(new Random(18), TICKS, List.of(slow, first, second));

        assertThat(usedBus(TICKS)).isGreaterThan(0.97);
        assertThat(first.readBytes / second.readBytes).isCloseTo(1, within(0.1));
        int ticksOfAStep = isOnePoll ? readTicks : 2 * readTicks;
        double possible = 16.0 * (128 << 10) / ticksOfAStep / BUS_BYTES_PER_TICK;
        double share = slow.readBytes / device.readBytes;
        // Whenever its results are unread for a while, it loses its claim on the past.
        assertThat(share).isGreaterThan(0.8 * Math.min(possible, 0.5));
    }

    @ParameterizedTest(name = "{0} to 1")
    @ValueSource(doubles = {1, 3, 100})
    void shouldStarveNoJoin(double weight) {
        Join heavy = new Join(weight).with(8, 64, 128 << 10);
        Join light = new Join(1).with(1, 128, 64 << 10);

        run(new Random(17), TICKS, List.of(heavy, light));

        double share = light.readBytes / device.readBytes;
        assertThat(share).isBetween(0.9 / (1 + weight), 1.1 / (1 + weight) + 0.01);
    }

    /** The segments behind one whose next step has to wait are complete, but not read. */
    @ParameterizedTest(name = "{0} slots, {1} KiB, {2} steps a segment, {3} engines")
    @CsvSource({"128, 128, 3, 1", "64, 128, 3, 8", "64, 1024, 2, 1", "64, 64, 5, 2"})
    void shouldNotWaitForStepsThatAreCompleteButUnread(
            int slots, long stepKiB, int steps, int engines) {
        Random random = new Random(24);
        List<Join> joins = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            joins.add(new Join(1).with(engines, slots, stepKiB << 10));
            joins.get(i).engines.forEach(engine -> engine.stepsOfSegment = steps);
        }

        for (int window = 0; window < 20; window++) {
            List<Long> before = readSteps(joins);
            run(random, TICKS / 20, joins);
            assertThat(readSteps(joins))
                    .as("window %d", window)
                    .zipSatisfy(before, (now, then) -> assertThat(now).isGreaterThan(then));
        }
    }

    private static List<Long> readSteps(List<Join> joins) {
        return joins.stream()
                .flatMap(join -> join.engines.stream())
                .map(engine -> engine.readSteps)
                .toList();
    }

    /** Among them engines of a join whose first engine has closed. */
    @Test
    void shouldCountTheEnginesOfAJoinTogether() {
        Join many = new Join(1).with(6, 64, 128 << 10);
        many.engines.remove(0).share.close();
        Join other = new Join(1).with(1, 128, 128 << 10);

        run(new Random(19), TICKS, List.of(many, other));

        assertThat(other.readBytes / many.readBytes).isCloseTo(1, within(0.1));
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, -1, 1e-3, 101, Double.NaN, Double.POSITIVE_INFINITY})
    void shouldRejectAWeightOutOfRange(double weight) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new JoinShare(null, weight))
                .withMessageContaining("weight=" + weight);
    }
}
