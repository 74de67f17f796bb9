package io.github.gpujoin.hybrid;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class PlacementPlannerTest {

    private static final PlacementPlanner.Budgets TWO_AND_TWO =
            new PlacementPlanner.Budgets(20, 20, 10);

    static LongStream seeds() {
        return LongStream.range(0, 300);
    }

    @Test
    void shouldGiveTheDeviceToTheUnitsWithMostProbesForAByte() {
        List<UnitLoad> units =
                List.of(
                        new UnitLoad(10, 10, 0.1, Place.SPILLED),
                        new UnitLoad(10, 10, 0.4, Place.SPILLED),
                        new UnitLoad(10, 10, 0.2, Place.SPILLED),
                        new UnitLoad(10, 10, 0.3, Place.SPILLED));
        assertThat(PlacementPlanner.plan(units, TWO_AND_TWO))
                .containsExactly(Place.HOST, Place.DEVICE, Place.HOST, Place.DEVICE);
    }

    @Test
    void shouldLeaveRoomToJoinSpilledUnitsOnlyWhereThereAreSome() {
        List<UnitLoad> five =
                IntStream.range(0, 5)
                        .mapToObj(i -> new UnitLoad(10, 10, 0.2, Place.SPILLED))
                        .toList();
        assertThat(PlacementPlanner.plan(five.subList(0, 4), TWO_AND_TWO))
                .containsExactly(Place.DEVICE, Place.DEVICE, Place.HOST, Place.HOST);
        assertThat(PlacementPlanner.plan(five, TWO_AND_TWO))
                .containsExactly(
                        Place.DEVICE, Place.DEVICE, Place.HOST, Place.SPILLED, Place.SPILLED);
    }

    @Test
    void shouldMoveAUnitOnlyForOneThatIsClearlyProbedMore() {
        for (double share : new double[] {0.5, 0.55, 0.59}) {
            List<UnitLoad> units =
                    List.of(
                            new UnitLoad(20, 20, 1 - share, Place.DEVICE),
                            new UnitLoad(20, 20, share, Place.HOST));
            assertThat(PlacementPlanner.plan(units, TWO_AND_TWO))
                    .as("share=%s", share)
                    .containsExactly(Place.DEVICE, Place.HOST);
        }
        assertThat(
                        PlacementPlanner.plan(
                                List.of(
                                        new UnitLoad(20, 20, 0.39, Place.DEVICE),
                                        new UnitLoad(20, 20, 0.61, Place.HOST)),
                                TWO_AND_TWO))
                .containsExactly(Place.HOST, Place.DEVICE);
    }

    @ParameterizedTest(name = "seed={0}")
    @MethodSource("seeds")
    void shouldKeepWithinBudgetsAndStayWithItsOwnPlan(long seed) {
        Random random = new Random(seed);
        List<UnitLoad> units = new ArrayList<>();
        for (int i = random.nextInt(40); i >= 0; i--) {
            units.add(
                    new UnitLoad(
                            random.nextInt(50),
                            random.nextInt(50),
                            random.nextInt(4) == 0 ? 0 : random.nextDouble(),
                            Place.values()[random.nextInt(3)]));
        }
        PlacementPlanner.Budgets budgets =
                new PlacementPlanner.Budgets(
                        random.nextInt(600) - 1, random.nextInt(600), random.nextInt(100));
        List<Place> plan = PlacementPlanner.plan(units, budgets);
        assertThat(bytes(units, plan, Place.DEVICE))
                .isLessThanOrEqualTo(Math.max(0, budgets.deviceBytes()));
        long spill = plan.contains(Place.SPILLED) ? budgets.spillBytes() : 0;
        assertThat(bytes(units, plan, Place.HOST))
                .isLessThanOrEqualTo(Math.max(0, budgets.hostBytes() - spill));
        assertThat(PlacementPlanner.plan(placed(units, plan), budgets)).isEqualTo(plan);
    }

    private static long bytes(List<UnitLoad> units, List<Place> plan, Place place) {
        return IntStream.range(0, units.size())
                .filter(u -> plan.get(u) == place)
                .mapToLong(u -> units.get(u).bytes(place))
                .sum();
    }

    private static List<UnitLoad> placed(List<UnitLoad> units, List<Place> plan) {
        return IntStream.range(0, units.size())
                .mapToObj(
                        u ->
                                new UnitLoad(
                                        units.get(u).deviceBytes(),
                                        units.get(u).hostBytes(),
                                        units.get(u).probeShare(),
                                        plan.get(u)))
                .toList();
    }
}
