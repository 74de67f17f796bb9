package io.github.gpujoin.hybrid;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Decides which units stand where: the device takes those with the most probes for each byte of
 * table, then the host does, and the log keeps the rest. (Thostrup et al., "Distributed GPU Joins
 * on Fast RDMA-capable Networks", section 5, place by build bytes alone.)
 *
 * <p>A unit that stands in a place, or a faster one, counts there for {@value #HYSTERESIS} times
 * its probes, so that two units with nearly equal loads do not change places for ever: a plan of
 * what is already placed by it is the same plan.
 */
final class PlacementPlanner {

    static final double HYSTERESIS = 1.5;

    private PlacementPlanner() {}

    /**
     * Bytes that all units of a place may take together.
     *
     * @param spillBytes of the host's, kept free for tables that are made for a while, if there is
     *     a unit without a place
     */
    record Budgets(long deviceBytes, long hostBytes, long spillBytes) {}

    /** A place for each unit, in order. */
    static List<Place> plan(List<UnitLoad> units, Budgets budgets) {
        List<Place> places = new ArrayList<>(Collections.nCopies(units.size(), Place.SPILLED));
        fill(places, units, Place.DEVICE, budgets.deviceBytes());
        List<Place> roomy = new ArrayList<>(places);
        fill(roomy, units, Place.HOST, budgets.hostBytes());
        if (!roomy.contains(Place.SPILLED)) {
            return roomy;
        }
        fill(places, units, Place.HOST, budgets.hostBytes() - budgets.spillBytes());
        return places;
    }

    /** Gives the place to the best of those that have none, as long as there is room. */
    private static void fill(
            List<Place> places, List<UnitLoad> units, Place target, long budgetBytes) {
        long freeBytes = budgetBytes;
        List<Integer> best =
                IntStream.range(0, units.size())
                        .boxed()
                        .filter(u -> places.get(u) == Place.SPILLED)
                        .sorted(
                                Comparator.comparingDouble(
                                                (Integer u) -> -worth(units.get(u), target))
                                        .thenComparing(
                                                u -> !units.get(u).place().isAtLeast(target)))
                        .toList();
        for (int u : best) {
            long bytes = units.get(u).bytes(target);
            if (bytes <= freeBytes) {
                places.set(u, target);
                freeBytes -= bytes;
            }
        }
    }

    /** Probes for each byte. */
    private static double worth(UnitLoad unit, Place target) {
        double weight = unit.place().isAtLeast(target) ? HYSTERESIS : 1;
        return weight * unit.probeShare() / Math.max(1, unit.bytes(target));
    }
}
