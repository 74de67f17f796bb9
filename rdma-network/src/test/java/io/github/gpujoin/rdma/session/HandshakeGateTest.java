package io.github.gpujoin.rdma.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.gpujoin.rdma.session.SessionListener.Limits;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HandshakeGateTest {

    private static final long SECOND_NS = TimeUnit.SECONDS.toNanos(1);

    @Test
    void shouldLeaveRoomForOthersWhenOneHostHasItsShare() throws Exception {
        HandshakeGate gate = new HandshakeGate(new Limits(4, 2, 100, 100));
        assertThat(gate.enter(host(1), 0)).isTrue();
        assertThat(gate.enter(host(1), 0)).isTrue();
        assertThat(gate.enter(host(1), 0)).as("a third of one host").isFalse();
        assertThat(gate.enter(host(2), 0)).isTrue();
        gate.leave(host(1));
        assertThat(gate.enter(host(1), 0)).isTrue();
    }

    @Test
    void shouldLetAHostBeginAsOftenAsItMayInEachSecond() throws Exception {
        HandshakeGate gate = new HandshakeGate(new Limits(100, 100, 5, 3));
        assertThat(begun(gate, host(1), 10, 0)).isEqualTo(3);
        assertThat(begun(gate, host(2), 10, 0)).as("what is left for all").isEqualTo(2);
        assertThat(begun(gate, host(1), 10, SECOND_NS - 1)).isZero();
        assertThat(begun(gate, host(1), 10, SECOND_NS)).isEqualTo(3);
    }

    @Test
    void shouldTakeAllAddressesOfAnIpv6NetworkForOneHost() throws Exception {
        HandshakeGate gate = new HandshakeGate(new Limits(100, 2, 100, 100));
        assertThat(gate.enter(InetAddress.getByName("fd00::1"), 0)).isTrue();
        assertThat(gate.enter(InetAddress.getByName("fd00::2"), 0)).isTrue();
        assertThat(gate.enter(InetAddress.getByName("fd00::3"), 0)).isFalse();
        assertThat(gate.enter(InetAddress.getByName("fd00:0:0:1::1"), 0)).isTrue();
    }

    /** Any crowd, against limits that are checked in the obvious way. */
    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void shouldKeepEveryLimitAndBoundedMemory(long seed) throws Exception {
        Random random = new Random(seed);
        Limits limits = new Limits(8, 3, 20, 7);
        HandshakeGate gate = new HandshakeGate(limits);
        List<InetAddress> underWay = new ArrayList<>();
        List<InetAddress> begun = new ArrayList<>();
        long secondStartNs = 0;
        for (long nowNs = 0, i = 0; i < 20_000; i++, nowNs += random.nextLong(SECOND_NS / 20)) {
            if (nowNs - secondStartNs >= SECOND_NS || begun.isEmpty()) {
                secondStartNs = nowNs;
                begun.clear();
            }
            InetAddress from = host(random.nextInt(random.nextBoolean() ? 3 : 1 << 16));
            boolean expected =
                    underWay.size() < limits.maxUnderWay()
                            && begun.size() < limits.maxPerSecond()
                            && count(underWay, from) < limits.maxUnderWayPerHost()
                            && count(begun, from) < limits.maxPerSecondPerHost();
            assertThat(gate.enter(from, nowNs)).isEqualTo(expected);
            if (expected) {
                underWay.add(from);
                begun.add(from);
            }
            if (!underWay.isEmpty() && random.nextInt(4) == 0) {
                gate.leave(underWay.remove(random.nextInt(underWay.size())));
            }
            assertThat(gate.hostCount()).isLessThanOrEqualTo(limits.maxPerSecond());
        }
    }

    @Test
    void shouldRefuseLimitsThatLetNobodyIn() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Limits(2, 3, 1, 1))
                .withMessage(
                        "a host may have one at least and all at most:"
                                + " maxUnderWayPerHost=3, maxUnderWay=2");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Limits(2, 2, 1, 0))
                .withMessageContaining("maxPerSecondPerHost=0, maxPerSecond=1");
    }

    private static int begun(HandshakeGate gate, InetAddress from, int tries, long nowNs) {
        int begun = 0;
        for (int i = 0; i < tries; i++) {
            if (gate.enter(from, nowNs)) {
                begun++;
                gate.leave(from);
            }
        }
        return begun;
    }

    private static long count(List<InetAddress> all, InetAddress one) {
        return all.stream().filter(one::equals).count();
    }

    private static InetAddress host(int number) throws UnknownHostException {
        return InetAddress.getByAddress(new byte[] {10, 9, (byte) (number >> 8), (byte) number});
    }
}
