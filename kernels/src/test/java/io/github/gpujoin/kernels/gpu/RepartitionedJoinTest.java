// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.kernels.gpu.RepartitionedCall.Part;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Joins of random tables spread over a group, compared with a map of counts. Members on one device
 * exchange rows like those of several devices.
 */
@NeedsGpu
class RepartitionedJoinTest {

    private DeviceGroup group;
    private List<Buffers> buffers = List.of();

    private void open(GpuOptions options) {
        group = DeviceGroup.acquire(options);
        buffers = group.buffers(MemoryLimits.of(MemoryBudget.byMachine()));
    }

    private void openVirtual(int members) {
        open(GpuOptions.defaults().withDevices(List.of(0)).withVirtualDevices(members));
    }

    @AfterEach
    void closeDevices() {
        buffers.forEach(Buffers::close);
        if (group != null) {
            group.release();
        }
    }

    private static long[] keys(Random random, int count, int distinct) {
        return random.longs(count)
                .map(value -> Math.floorMod(value, distinct) - distinct / 2)
                .toArray();
    }

    @ParameterizedTest(name = "{0} members, {1} bits, {2} chunks, {3} x {4} rows, {5} keys")
    @CsvSource({
        "1, 64, 0, 1000, 5000, 700",
        "2, 64, 0, 0, 10, 5",
        "2, 64, 0, 10, 0, 5",
        "2, 64, 1, 1, 1, 1",
        "2, 32, 4, 1000, 5000, 700",
        "2, 64, 3, 3000000, 4000000, 2000000",
        "2, 32, 2, 3000000, 4000000, 2000000",
        "4, 64, 3, 200000, 300000, 3000",
        "4, 64, 2, 3000000, 4000000, 2000000",
        "2, 64, 2, 5000, 5000, 1"
    })
    void shouldFindEveryPairOfEqualKeys(
            int members, int bits, int chunks, int buildRows, int probeRows, int distinct) {
        openVirtual(members);
        Random random = new Random(bits + 31L * buildRows + probeRows);
        assertJoin(
                bits, chunks, keys(random, buildRows, distinct), keys(random, probeRows, distinct));
    }

    /** With low powers, guessed slots of the second pass are too small; with high ones, all are. */
    @ParameterizedTest(name = "{0} bits, power {1}, sorted {2}")
    @CsvSource({"64, 2, false", "64, 60, false", "32, 8, false", "64, 8, true"})
    void shouldFindEveryPairOfSkewedKeys(int bits, int power, boolean isSorted) {
        openVirtual(2);
        assertSkewedJoin(bits, power, isSorted);
    }

    @NeedsTwoGpus
    @ParameterizedTest(name = "{0} bits, power {1}")
    @CsvSource({"64, 1", "64, 8", "32, 1", "32, 60"})
    void shouldFindPairsOfTwoDevices(int bits, int power) {
        open(GpuOptions.defaults().withDevices(List.of(0, 1)));
        assertSkewedJoin(bits, power, false);
    }

    private void assertSkewedJoin(int bits, int power, boolean isSorted) {
        Random random = new Random(bits + power);
        long[] build = new long[3_000_000];
        Arrays.setAll(build, i -> i);
        long[] probe =
                random.doubles(4_000_000)
                        .mapToLong(value -> (long) (Math.pow(value, power) * build.length))
                        .toArray();
        if (isSorted) {
            Arrays.sort(probe);
        }
        assertJoin(bits, 3, build, probe);
    }

    @Test
    void shouldRejectThreeMembers() {
        openVirtual(3);
        assertThatThrownBy(() -> new RepartitionedJoin(group, 64, 0, buffers))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "A repartitioned join needs 1, 2, 4 or 8 devices: devices=3. Use fewer of them.");
    }

    @Test
    void shouldRejectMoreRowsThanPositions() {
        openVirtual(2);
        ResidentCall.Table half =
                ResidentCall.Table.ofColumns(0, 0, RepartitionedJoin.MAX_ROWS / 2);
        ResidentCall.Table more =
                ResidentCall.Table.ofColumns(0, 0, RepartitionedJoin.MAX_ROWS / 2 + 1);
        ResidentCall.Matches none = new ResidentCall.Matches(0, 0, 0, 0, 0);
        try (RepartitionedJoin join = new RepartitionedJoin(group, 64, 0, buffers)) {
            assertThat(join.workspaceBytes(List.of(part(half, none), part(half, none))))
                    .isGreaterThan(16 * RepartitionedJoin.MAX_ROWS);
            assertThatThrownBy(
                            () -> join.workspaceBytes(List.of(part(half, none), part(more, none))))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("A table exceeds 2^31 rows: buildRows=2147483649");
        }
    }

    private static Part part(ResidentCall.Table table, ResidentCall.Matches matches) {
        return new Part(table, table, matches);
    }

    /** Joins twice, and checks the second result: workspaces are used again. */
    private void assertJoin(int bits, int chunks, long[] build, long[] probe) {
        int wordBytes = bits / Byte.SIZE;
        Map<Long, Integer> rows = new HashMap<>();
        for (long key : build) {
            rows.merge(key, 1, Integer::sum);
        }
        long expected = 0;
        for (long key : probe) {
            expected += rows.getOrDefault(key, 0);
        }
        List<Part> parts = new ArrayList<>();
        for (int n = 0; n < group.size(); n++) {
            parts.add(upload(n, build, probe, wordBytes, expected));
        }
        try (RepartitionedJoin join = new RepartitionedJoin(group, bits, chunks, buffers)) {
            long length = join.workspaceBytes(parts);
            long[] workspaces = buffers.stream().mapToLong(owner -> owner.device(length)).toArray();
            join.start(parts, workspaces);
            join.start(parts, workspaces);
            while (!join.isIdle()) {
                LockSupport.parkNanos(10_000);
            }
        }
        assertPairs(parts, wordBytes, build, probe, expected);
    }

    /** Gives each member twice as many rows as the one before; the last one takes the rest. */
    private Part upload(int member, long[] build, long[] probe, int wordBytes, long capacity) {
        Buffers owner = buffers.get(member);
        ResidentCall.Matches matches =
                new ResidentCall.Matches(
                        0,
                        owner.device(Math.max(16, wordBytes * capacity)),
                        owner.device(Math.max(16, wordBytes * capacity)),
                        capacity,
                        owner.device(Long.BYTES));
        return new Part(
                upload(member, build, wordBytes), upload(member, probe, wordBytes), matches);
    }

    private ResidentCall.Table upload(int member, long[] keys, int wordBytes) {
        int total = (1 << group.size()) - 1;
        int first = (int) ((long) keys.length * ((1 << member) - 1) / total);
        int end = (int) ((long) keys.length * ((1 << (member + 1)) - 1) / total);
        int count = end - first;
        long[] payloads = new long[count];
        Arrays.setAll(payloads, i -> first + i);
        return ResidentCall.Table.ofColumns(
                uploadColumn(member, Arrays.copyOfRange(keys, first, end), wordBytes),
                uploadColumn(member, payloads, wordBytes),
                count);
    }

    private long uploadColumn(int member, long[] values, int wordBytes) {
        long length = Math.max(16, (long) wordBytes * values.length);
        long address = buffers.get(member).device(length);
        try (Region region = Region.allocateZeroed(length)) {
            for (int i = 0; i < values.length; i++) {
                Memory.putInteger(
                        null, region.address() + (long) wordBytes * i, wordBytes, values[i]);
            }
            group.members().get(member).driver().copyToDevice(address, region.address(), length);
        }
        return address;
    }

    /** As many different pairs as expected, each of equal keys, are all pairs. */
    private void assertPairs(
            List<Part> parts, int wordBytes, long[] build, long[] probe, long expected) {
        long[] pairs = new long[(int) expected];
        int found = 0;
        for (int n = 0; n < parts.size(); n++) {
            ResidentCall.Matches matches = parts.get(n).matches();
            int count = (int) readColumn(n, matches.matchCount(), 1, Long.BYTES)[0];
            assertThat(count).isBetween(0, pairs.length - found);
            long[] builds = readColumn(n, matches.buildPayloads(), count, wordBytes);
            long[] probes = readColumn(n, matches.probePayloads(), count, wordBytes);
            for (int i = 0; i < count; i++) {
                if (build[(int) builds[i]] != probe[(int) probes[i]]) {
                    fail("Keys of a pair differ: build=%d, probe=%d", builds[i], probes[i]);
                }
                pairs[found++] = builds[i] << Integer.SIZE | probes[i];
            }
        }
        assertThat((long) found).isEqualTo(expected);
        Arrays.sort(pairs);
        for (int i = 1; i < found; i++) {
            if (pairs[i] == pairs[i - 1]) {
                fail("Pair %d was found twice.", pairs[i]);
            }
        }
    }

    private long[] readColumn(int member, long column, int count, int wordBytes) {
        long[] values = new long[count];
        long length = Math.max(16, (long) wordBytes * count);
        try (Region region = Region.allocate(length)) {
            group.members()
                    .get(member)
                    .driver()
                    .copyToHost(region.address(), column, (long) wordBytes * count);
            for (int i = 0; i < count; i++) {
                values[i] =
                        Memory.getInteger(null, region.address() + (long) wordBytes * i, wordBytes);
            }
        }
        return values;
    }
}
