// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.gpujoin.core.engine.TableMemory;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class MemberBalanceTest {

    private static final int FACT_BYTES = 8;
    private static final long TABLE_BYTES = 100;

    /** A move costs 4 * {@link #TABLE_BYTES} / {@link #FACT_BYTES} = 50 facts. */
    private static final int INTERVAL_ROWS = 100;

    private static final TableMemory ROOMY = free(TABLE_BYTES, TABLE_BYTES);

    private final MemberBalance balance = new MemberBalance(FACT_BYTES);

    private static TableMemory free(Long... bytes) {
        return new TableMemory(List.of(bytes), true, false);
    }

    private static PartitionGroupLoad on(int member, double share) {
        return load(TableLocation.placedOn(member), share);
    }

    private static PartitionGroupLoad load(TableLocation location, double share) {
        return new PartitionGroupLoad(TABLE_BYTES, TABLE_BYTES, TABLE_BYTES, share, location);
    }

    /** Each interval, the move spares the first member a fifth of 100 facts. */
    @Test
    void shouldMoveGroupOnceTheFactsThatTheMoveSparesCostAsMuch() {
        List<PartitionGroupLoad> groups = List.of(on(0, 0.4), on(0, 0.4), on(1, 0.2));
        for (int round = 0; round < 2; round++) {
            assertThat(balance.observe(groups, ROOMY, INTERVAL_ROWS)).isEmpty();
            assertThat(balance.observe(groups, ROOMY, INTERVAL_ROWS)).isEmpty();
            assertThat(balance.observe(groups, ROOMY, INTERVAL_ROWS))
                    .contains(new MemberBalance.Move(0, 1));
        }
        assertThat(balance.skew()).isCloseTo(1.6, within(1e-9));
    }

    @Test
    void shouldTryAMoveHalfAsOftenAfterEachRefusal() {
        List<PartitionGroupLoad> groups = List.of(on(0, 0.4), on(0, 0.4), on(1, 0.2));
        List<Integer> tried = new ArrayList<>();
        for (int interval = 1; interval <= 21; interval++) {
            if (balance.observe(groups, ROOMY, INTERVAL_ROWS).isPresent()) {
                tried.add(interval);
                balance.refused();
            }
        }
        assertThat(tried).containsExactly(3, 9, 20);
    }

    @Test
    void shouldMoveNoGroupToMemberWithoutRoom() {
        List<PartitionGroupLoad> groups = List.of(on(0, 0.4), on(0, 0.4), on(1, 0.2));
        TableMemory full = free(Long.MAX_VALUE, TABLE_BYTES - 1);
        assertThat(balance.observe(groups, full, 1_000_000)).isEmpty();
        assertThat(balance.observe(groups, ROOMY, 1)).contains(new MemberBalance.Move(0, 1));
    }

    @Test
    void shouldNotMoveGroupThatWouldOverloadTheOtherMember() {
        List<PartitionGroupLoad> groups = List.of(on(0, 0.9), on(1, 0.1));
        assertThat(balance.observe(groups, ROOMY, 1_000_000)).isEmpty();
    }

    @Test
    void shouldForgetUnevenProbesOnceMembersAreEven() {
        List<PartitionGroupLoad> uneven = List.of(on(0, 0.4), on(0, 0.4), on(1, 0.2));
        List<PartitionGroupLoad> even = List.of(on(0, 0.25), on(0, 0.29), on(1, 0.46));
        balance.observe(uneven, ROOMY, INTERVAL_ROWS);
        balance.observe(uneven, ROOMY, INTERVAL_ROWS);
        assertThat(balance.observe(even, ROOMY, 1_000_000)).isEmpty();
        assertThat(balance.observe(uneven, ROOMY, INTERVAL_ROWS)).isEmpty();
        assertThat(balance.skew()).isGreaterThan(MemberBalance.EVEN);
    }

    @Test
    void shouldCountProbesOfTablesThatAllMembersProbeEvenly() {
        List<PartitionGroupLoad> groups =
                List.of(
                        load(TableLocation.DEVICE, 0.5),
                        on(0, 0.2),
                        load(TableLocation.HOST, 0.2),
                        load(TableLocation.SPILLED, 0.1));
        balance.observe(groups, ROOMY, INTERVAL_ROWS);
        assertThat(balance.skew()).isCloseTo(0.45 / 0.35, within(1e-9));
        balance.observe(List.of(load(TableLocation.HOST, 1)), ROOMY, INTERVAL_ROWS);
        assertThat(balance.skew()).isEqualTo(1);
    }
}
